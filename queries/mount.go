package queries

import (
	"fmt"
	"strings"
)

// rawColumns are the columns of a run and of a target's metrics in Trino's types, as ingest writes them; day is that of the folder.
const (
	rawColumns = `request_id VARCHAR, root_request_id VARCHAR, attempt INTEGER, response_id VARCHAR, trace_id VARCHAR, span_id VARCHAR, parent_span_id VARCHAR,
  session_id VARCHAR, turn INTEGER,
  arrival TIMESTAMP(6), first_us BIGINT, first_visible_us BIGINT, headers_us BIGINT, last_us BIGINT, end_us BIGINT, send_lag_us BIGINT,
  queue_us BIGINT, prefill_us BIGINT, decode_us BIGINT, gaps_us ARRAY(INTEGER), chunk_tokens ARRAY(INTEGER),
  ttft_kind VARCHAR, vantage VARCHAR, clock_domain VARCHAR, time_precision_us BIGINT,
  error_class VARCHAR, http_status INTEGER, finish_reason VARCHAR, endpoint_kind VARCHAR, stream BOOLEAN, cached_response BOOLEAN,
  model_requested VARCHAR, model_served VARCHAR, provider VARCHAR, deployment VARCHAR, replica VARCHAR, tenant VARCHAR, app VARCHAR, route VARCHAR,
  key_hash VARCHAR, user_hash VARCHAR,
  input_tokens BIGINT, cached_input_tokens BIGINT, cache_write_tokens BIGINT, output_tokens BIGINT, reasoning_tokens BIGINT, max_tokens BIGINT, tokens_source VARCHAR,
  system_prompt_tokens BIGINT, system_prompt_hash VARCHAR, prefix_hash_ids ARRAY(BIGINT), prefix_block_tokens INTEGER,
  source_format VARCHAR, source_file VARCHAR, source_line BIGINT, quality VARCHAR`
	sampleColumns = `at_us BIGINT, endpoint VARCHAR, name VARCHAR, labels VARCHAR, value DOUBLE`
)

// Table is the full name of a table of a cluster.
type Table struct{ Catalog, Schema, Name string }

// ParseTable reads NAME, SCHEMA.NAME or CATALOG.SCHEMA.NAME; what is missing comes from base.
func ParseTable(text string, base Table) (Table, error) {
	parts, err := nameParts(text)
	if err != nil {
		return Table{}, err
	}
	t := base
	switch len(parts) {
	case 1:
		t.Name = parts[0]
	case 2:
		t.Schema, t.Name = parts[0], parts[1]
	case 3:
		t.Catalog, t.Schema, t.Name = parts[0], parts[1], parts[2]
	}
	if len(parts) > 3 || t.Catalog == "" || t.Schema == "" {
		return Table{}, fmt.Errorf("expected a table as CATALOG.SCHEMA.NAME, got %q", text)
	}
	return t, nil
}

// nameParts are the parts of a name, none of which could end a quoted one.
func nameParts(text string) ([]string, error) {
	parts := strings.Split(text, ".")
	for _, p := range parts {
		if p == "" || strings.ContainsAny(p, "\"'` \t\n;/\\") {
			return nil, fmt.Errorf("expected a table as NAME, SCHEMA.NAME or CATALOG.SCHEMA.NAME, got %q", text)
		}
	}
	return parts, nil
}

// String quotes each part.
func (t Table) String() string {
	return fmt.Sprintf(`"%s"."%s"."%s"`, t.Catalog, t.Schema, t.Name)
}

// Metrics is the table of what the target of a replay said of itself.
func (t Table) Metrics() Table { return Table{t.Catalog, t.Schema, t.Name + "_metrics"} }

// Scan is the table as Source.Scan has it.
func (t Table) Scan() string { return t.String() + " " + sourceMark }

// Forms asks a run which forms of the base views it needs, as Source has them: joined, grouped, mixed. Rows that stand in several parts need
// joined too, which this does not see. more are columns beside.
func Forms(scan string, more ...string) string {
	return `SELECT count(DISTINCT source_format || vantage) > 1 OR coalesce(bool_or(span_id IS NOT NULL), FALSE) AS joined, coalesce(max(attempt) > 1, FALSE) AS grouped,
` + strings.Join(append([]string{"count(DISTINCT clock_domain = 'wall') > 1 AS mixed"}, more...), ", ") + ` FROM ` + scan
}

// Mount returns the statements that make a run at location a table of Trino's Hive connector: schema, table, and the call that makes
// the days known, which is to be made again after each ingest. With metrics it has the table of the target's metrics too.
func Mount(t Table, location string, metrics bool) []string {
	location = strings.TrimRight(location, "/")
	out := []string{
		fmt.Sprintf(`CREATE SCHEMA IF NOT EXISTS "%s"."%s"`, t.Catalog, t.Schema),
		fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s (\n  %s, day VARCHAR)\nWITH (format = 'PARQUET', external_location = %s, partitioned_by = ARRAY['day'])",
			t, rawColumns, quote(location)),
		fmt.Sprintf(`CALL "%s".system.sync_partition_metadata(%s, %s, 'FULL')`, t.Catalog, quote(t.Schema), quote(t.Name)),
	}
	if metrics {
		out = append(out, fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s (\n  %s)\nWITH (format = 'PARQUET', external_location = %s)", t.Metrics(), sampleColumns, quote(location+"/metrics")))
	}
	return out
}
