// Package trace holds the one record that flows through reprise and its Parquet form.
//
// Contract: a [Request] is one attempt of one call to a model, as one vantage point saw it. Decoders and the
// replayer fill it, [Check] makes it consistent (and says in Quality what it had to give up), [Writer] stores it,
// [Read] brings it back without loss. Everything else in the program reads the Parquet files with SQL.
//
// A run is a folder:
//
//	run/day=2026-11-29/PART.parquet
//
// Flow of the writer: Add holds rows back and sorts them, a goroutine of its own (batch.go) puts them into the file of
// their day (rowfile.go), which keeps the pages of each column (column.go) of the open row group; leaf.go encodes values.
//
// PART is named after the identity of the input, so the same input always gives the same file and a second ingest
// adds nothing. A part appears whole under its final name or not at all.
//
// Rules of the record: unknown is nil (NULL), never 0; for text, "" is unknown. Instants are UTC microseconds since
// 1970; durations are microseconds from Arrival and are named *_us. Nothing in a record holds prompt text, a key in
// clear or a header.
package trace
