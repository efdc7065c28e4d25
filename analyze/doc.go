// Package analyze runs the queries of the catalogue over runs with DuckDB and does the little arithmetic that SQL
// should not: fits, bootstrap intervals, verdicts.
//
// Flow: [Open] finds the parts of a run; an [Engine] is one in-memory database on one pinned connection, its zone set
// to UTC; [Engine.Query] composes the statement, runs it and returns a [Result] that carries unit, coverage and
// warnings with the figures. Compare is the same query on two runs.
package analyze
