// Package analyze runs the queries of the catalogue over runs with DuckDB and does the little arithmetic that SQL
// should not: fits, bootstrap intervals, verdicts.
//
// Flow: [Open] finds the parts of a run; an [Engine] is one in-memory database on one pinned connection, its zone set
// to UTC; [Engine.Query] composes the statement, runs it and returns a [Result] that carries unit, coverage and
// warnings with the figures. Compare is the same query on two runs.
//
// Views that queries marks as kept are tables of steps in a database on disk; those marked as swept get their rows from Go (gaps_sweep.go):
// lists of chunk gaps are read as DuckDB holds them (chunks.go), walked along the timeline of their replica (gaps_replica.go,
// gaps_stretched.go), and added up (gaps_sums.go, gaps_blame.go), counted (gaps_counts.go, gaps_pools.go) or handed on where they matter. A sweep keeps in memory the
// edges of streams and prefills, and for the usual lengths 2 bytes a gap, 4 of one over 65 ms.
//
// Exact percentiles hold 8 bytes a value outside of DuckDB's memory limit; over many requests they are worked out in pieces (pieces.go).
//
// An engine of [NewTrino] has a cluster instead of the database; runs are then tables ([OpenTable]). Queries, reports and warnings are
// the same. Tables of steps that large queries need (queries.Stage) are made in the schema of the URL, or ?scratch=CATALOG.SCHEMA, under
// names reprise_SESSION_HASH, used again by later queries of the engine, and dropped by Close. A killed program leaves them:
// DROP TABLE removes them.
package analyze
