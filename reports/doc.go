// Package reports shows results: terminal tables, JSON, CSV and one self-contained HTML page.
//
// Flow: [Build] makes a [Report] from the results of one run, [BuildComparison] from a comparison, [BuildMigration] from one with
// what else a decision rests on, [BuildSweep] from load sweeps, [BuildIncident] and [BuildWeekly] from what their names say; all are
// pure. [WriteText], [WriteJSON], [WriteMarkdown] and [WriteHTML] render any report; [TableText], [JSONWriter], [CSVWriter] and
// [ResultMarkdown] render one result.
//
// What holds everywhere: the answer comes first; a figure stands beside its n, its unit and its definition; unknown
// prints as n/a, never as 0; a section whose log level is missing says why and shows nothing else; names from logs stay
// text (control characters are spelt out, the page has no place where a name could become markup); the same report
// gives the same bytes.
package reports
