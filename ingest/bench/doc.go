// Package bench decodes the per-request exports of other load tools.
//
// Contract: each exported constructor returns one [decode.Format]; ingest lists them. The tool's own results (its "TPOT",
// its "ITL", its percentiles) are never read: the same word means another thing in each of them (metrics.md 1.2). What is
// read are start, first token, chunk and end times and token counts, from which our definitions follow; source_format
// says whose clock and whose first chunk it was.
//
// Every row has vantage client. A tool that writes wall times keeps them; one that writes a steady clock gives rows of
// clock_domain relative: they compare with each other, not with a log. A lag of the tool behind its own schedule is not
// in the latencies: arrival is when the request was sent.
package bench
