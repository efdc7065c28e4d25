// Package decode is what a log format needs and nothing else: the [Format] value it must provide, the [Context] it
// writes to, and access to JSON, times and units.
//
// Flow: package ingest opens the input, undoes compression, finds the container (JSON lines, a JSON array, CSV,
// framed messages), asks each Format to Detect itself on a Sample, and then hands the records to the winner one at a
// time. The decoder calls Context.Emit for a request, Context.Skip for a record that is not one (a health check, a
// tool span), and returns an error to refuse the record. Nothing is dropped without one of the three.
//
// A decoder keeps no state between records (records are decoded in parallel), unless the format is a Group, and never
// guesses: what the source does not say stays nil.
package decode
