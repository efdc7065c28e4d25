// Package layout says which files of a run count.
//
//	run/day=2026-11-29/PART.parquet                the requests of one input on one day
//	run/day=2026-11-29/compact-HASH.parquet        the requests of many parts, and
//	run/day=2026-11-29/_compact-HASH.parts         the list of those parts, one a line: name, space, its metadata as JSON
//	run/bodies/PART.parquet, run/metrics/PART.parquet
//
// Contract: a part that stands in the list of a compacted part which is there does not count. So many parts become one at
// the instant that the compacted part gets its name: its list is written before, the parts are deleted after, and a
// process that dies in between, at any point, leaves a run that reads the same. A bucket works the same way. The list
// also keeps the identity of the inputs: an input whose part stands in it is in the run.
//
// Programs that read the folder without this package count rows twice in the time between naming and deleting; they skip
// files that begin with an underscore or a dot, as Hive, Trino, Spark and Arrow do.
package layout
