// Package public decodes traces that others published and the JSON lines of our own.
//
// Contract: each exported constructor returns one [decode.Format]; ingest lists them. Published traces hold arrivals
// and lengths, seldom answer times and outcomes: they feed plans and prefix analyses, not latency reports. What they do
// not say stays unknown: an arrival that only a pause tells of, a length in characters, the time zone of a day. Our own JSON
// lines hold any column of a run, so whatever we have no decoder for can be brought in with a short script, and
// [EncodeReprise] writes them.
package public
