package queries

import (
	"fmt"
	"strings"
)

// SparkTable is the name of a table of Spark, or, where it has one part, of a view of the session.
type SparkTable struct{ parts []string }

// ParseSparkTable reads NAME, SCHEMA.NAME or CATALOG.SCHEMA.NAME.
func ParseSparkTable(text string) (SparkTable, error) {
	parts, err := nameParts(text)
	if len(parts) > 3 {
		err = fmt.Errorf("expected a table as NAME, SCHEMA.NAME or CATALOG.SCHEMA.NAME, got %q", text)
	}
	return SparkTable{parts}, err
}

// String quotes each part.
func (t SparkTable) String() string { return "`" + strings.Join(t.parts, "`.`") + "`" }

// Metrics is the table of what the target of a replay said of itself.
func (t SparkTable) Metrics() SparkTable { return t.Beside(t.parts[len(t.parts)-1] + "_metrics") }

// Beside is a table of the same schema.
func (t SparkTable) Beside(name string) SparkTable {
	return SparkTable{append(t.parts[:len(t.parts)-1:len(t.parts)-1], name)}
}

// Scan is the table as Source.Scan has it.
func (t SparkTable) Scan() string { return t.String() + " " + sourceMark }

// sparkTypes turns Trino's types into Spark's, but for that of text.
var sparkTypes = strings.NewReplacer("TIMESTAMP(6)", "TIMESTAMP", "ARRAY(INTEGER)", "ARRAY<INTEGER>", "ARRAY(BIGINT)", "ARRAY<BIGINT>")

// MountSpark returns the statements that make a run at location a table of Spark: a view of the session where the name has one part, else a
// table of the catalogue and the statement that makes the days known. With metrics it has the table of the target's metrics too. The
// columns are given, so that those which older parts lack are NULL, and day is text.
func MountSpark(t SparkTable, location string, metrics bool) []string {
	location = strings.TrimRight(location, "/")
	columns := sparkTypes.Replace(rawColumns) + ", day VARCHAR"
	var out []string
	if len(t.parts) == 1 {
		out = []string{fmt.Sprintf("CREATE OR REPLACE TEMPORARY VIEW %s (\n  %s)\nUSING parquet OPTIONS (path %s, basePath %s)", t, columns, quote(location+"/day=*"), quote(location))}
		if metrics {
			out = append(out, fmt.Sprintf("CREATE OR REPLACE TEMPORARY VIEW %s (\n  %s)\nUSING parquet OPTIONS (path %s)", t.Metrics(), sampleColumns, quote(location+"/metrics")))
		}
	} else {
		out = []string{fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s (\n  %s)\nUSING parquet PARTITIONED BY (day) LOCATION %s", t, columns, quote(location)), "MSCK REPAIR TABLE " + t.String()}
		if metrics {
			out = append(out, fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s (\n  %s)\nUSING parquet LOCATION %s", t.Metrics(), sampleColumns, quote(location+"/metrics")))
		}
	}
	for i, s := range out {
		out[i] = Spark.finish(s)
	}
	return out
}
