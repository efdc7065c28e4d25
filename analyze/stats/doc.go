// Package stats is the arithmetic of metrics.md part 2 as pure functions: quantiles, intervals, tests, the paired
// bootstrap, change points, and the robust line fits of parts 4 and 7.
//
// Flow: numbers in, numbers out. The package imports nothing of the module, reads no clock and keeps no state; what is
// random takes a seed and gives the same answer on every machine, however many cores it has. An empty sample has no
// quantile: functions that return a float64 then give NaN, which callers turn into NULL and never print.
package stats
