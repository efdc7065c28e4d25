//go:build trino

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"reprise/analyze"
	"reprise/queries"
)

// TestTwoNodes ingests a log into a bucket, makes a table of it by the statements that reprise sql --mount prints, and asks a
// coordinator and a worker every query of the catalogue. The answers are those of DuckDB, and both nodes have read rows.
func TestTwoNodes(t *testing.T) {
	c := newCluster(t)
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	data := testdata(t)
	t.Chdir(t.TempDir())
	writeDays(t, filepath.Join(data, "truth", "baseline.jsonl.gz"), "log.jsonl")
	const place = "s3://runs/days"
	reprise(t, "ingest", "log.jsonl", "-o", place)
	c.exec(t, mountStatements(t, place, "days"))
	t.Run("analyze", func(t *testing.T) {
		here := reprise(t, "analyze", place, "--slo", trinoSLO, "--json")
		there := reprise(t, "analyze", "days", "--slo", trinoSLO, "--json", "--engine", c.engine)
		n, d := sameJSON(decoded(t, strings.ReplaceAll(here, place, "days")), decoded(t, there), "")
		if d != "" {
			t.Error(d)
		}
		t.Logf("%d values", n)
	})
	reprise(t, "ingest", "log.jsonl", "-o", "days")
	c.everyQuery(t, "days")
	c.bothWorked(t)
}

// everyQuery compares the catalogue over a table and over the folder of the same name.
func (c *cluster) everyQuery(t *testing.T, name string) {
	ctx := context.Background()
	here, err := analyze.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	there, err := analyze.OpenTable(name)
	if err != nil {
		t.Fatal(err)
	}
	slo, err := analyze.ParseSLO(trinoSLO)
	if err != nil {
		t.Fatal(err)
	}
	scope := analyze.Scope{SLO: slo, By: []string{"tenant", "model"}}
	duck := engine(t)
	trino, err := analyze.NewTrino(ctx, analyze.TrinoOptions{URL: c.engine})
	if err != nil {
		t.Fatal(err)
	}
	defer trino.Close()
	rows, differences := 0, 0
	for _, q := range queries.Names() {
		t.Run(q, func(t *testing.T) {
			want, err := duck.Query(ctx, here, q, scope, nil)
			if err != nil {
				t.Fatal(err)
			}
			begin := time.Now()
			got, err := trino.Query(ctx, there, q, scope, nil)
			rows += len(want.Rows)
			d := fmt.Sprint(err)
			if err == nil {
				_, d = sameJSON(decoded(t, asJSON(t, want)), decoded(t, asJSON(t, got)), "")
			}
			if d != "" {
				differences++
				t.Error(d)
			}
			t.Logf("%s: %d rows, %.1f s", q, len(want.Rows), time.Since(begin).Seconds())
		})
	}
	t.Logf("%d query files, %d rows, %d differences", len(queries.Names()), rows, differences)
}

// bothWorked asks the nodes what they have done.
func (c *cluster) bothWorked(t *testing.T) {
	rows, err := c.db.Query(`SELECT node_id, count(*), sum(completed_splits), sum(raw_input_rows), CAST(sum(split_cpu_time_ms) / 1e3 AS DOUBLE)
FROM system.runtime.tasks GROUP BY node_id ORDER BY node_id`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	nodes := 0
	for ; rows.Next(); nodes++ {
		var node string
		var tasks, splits, read int64
		var cpu float64
		if err := rows.Scan(&node, &tasks, &splits, &read, &cpu); err != nil {
			t.Fatal(err)
		}
		t.Logf("node %s: %d tasks, %d splits, %d rows read, %.1f s of CPU", node, tasks, splits, read, cpu)
		if read == 0 {
			t.Errorf("node %s has read nothing", node)
		}
	}
	if rows.Err() != nil || nodes != 2 {
		t.Errorf("%d nodes have worked (%v), want 2", nodes, rows.Err())
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// writeDays writes what a client saw of 725 requests, on each of six days, and what breaks figures.
func writeDays(t *testing.T, seen, name string) {
	t.Helper()
	var out strings.Builder
	out.WriteString(oddLines)
	for day := range 6 {
		f, err := os.Open(seen)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(z)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var row map[string]any
			d := json.NewDecoder(strings.NewReader(lines.Text()))
			d.UseNumber()
			if err := d.Decode(&row); err != nil {
				t.Fatal(err)
			}
			at, err := row["arrival"].(json.Number).Int64()
			if err != nil {
				t.Fatal(err)
			}
			row["arrival"] = at - int64(day)*24*time.Hour.Microseconds()
			for _, id := range []string{"request_id", "response_id", "session_id"} {
				if row[id] != nil {
					row[id] = fmt.Sprint(row[id], ".", day)
				}
			}
			out.WriteString(asJSON(t, row) + "\n")
		}
		if err := lines.Err(); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(name, []byte(out.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// oddLines are unknowns, failures, answers of one token, empty lists, values that are huge and tiny, names that SQL could take for
// its own, a call that was tried again and one that two formats tell of.
const oddLines = `{"request_id":"o1","arrival":null,"vantage":"gateway","clock_domain":"relative","error_class":"ok","stream":true,"first_us":50000,"end_us":90000,"output_tokens":3}
{"request_id":"o2","arrival":1795961910000000,"error_class":"ok","stream":true,"first_us":1,"last_us":1,"end_us":1,"gaps_us":[1],"chunk_tokens":[1],"output_tokens":1,"input_tokens":1,"tenant":"it's \"t\"; --","model_requested":"m"}
{"request_id":"o3","arrival":1795961911000000,"error_class":"ok","stream":true,"gaps_us":[],"chunk_tokens":[],"prefix_hash_ids":[],"prefix_block_tokens":16,"end_us":5000,"tenant":"ünïcödé","model_requested":"m"}
{"request_id":"o4","arrival":1795961912000000,"error_class":"ok","stream":true,"first_us":200000,"last_us":3000000000,"end_us":3000000000,"gaps_us":[200000,2147483647,40000],"output_tokens":1000000000000,"input_tokens":999999999999,"cached_input_tokens":999999999998,"tenant":"acme","model_requested":"m","replica":"r1"}
{"request_id":"o5","arrival":1795961913000000,"error_class":"timeout","http_status":504,"stream":true,"end_us":30000000,"tenant":"acme","model_requested":"m","replica":"r1"}
{"request_id":"o6","arrival":1795961914000000,"error_class":"client_cancel","stream":true,"end_us":100000,"tenant":"acme","model_requested":"m"}
{"request_id":"o7","arrival":1795961915000000,"error_class":"in_flight","stream":null,"tenant":"","model_requested":""}
{"request_id":"o8","arrival":1795961916000000,"error_class":"ok","stream":false,"end_us":700000,"output_tokens":12,"input_tokens":40,"reasoning_tokens":12,"tenant":"acme","model_requested":"m"}
{"request_id":"o9","arrival":1795961917000000,"error_class":"ok","stream":false,"endpoint_kind":"embeddings","end_us":7000,"input_tokens":400,"tenant":"acme","model_requested":"e"}
{"request_id":"o10","arrival":1795961918000000,"error_class":"ok","stream":true,"cached_response":true,"first_us":900,"end_us":1000,"output_tokens":5,"tenant":"acme","model_requested":"m","quality":"pseudo_stream,tokens_missing"}
{"request_id":"o11","root_request_id":"o11","attempt":1,"arrival":1795961919000000,"error_class":"upstream_error","http_status":503,"end_us":1000000,"tenant":"acme","model_requested":"m","replica":"r1"}
{"request_id":"o11","root_request_id":"o11","attempt":2,"arrival":1795961920500000,"error_class":"ok","stream":true,"first_us":80000,"last_us":300000,"end_us":300000,"gaps_us":[80000,0,0,220000],"chunk_tokens":[1,1,5,12000],"output_tokens":12007,"tenant":"acme","model_requested":"m","replica":"r1"}
{"request_id":"o12","arrival":1795961921000000,"error_class":"ok","stream":true,"first_us":80000,"end_us":300000,"output_tokens":4,"tenant":"acme","model_requested":"m","trace_id":"4bf92f3577b34da6a3ce929d0e0e4736","source_format":"one"}
{"request_id":"s12","arrival":1795961921000400,"vantage":"engine","error_class":"ok","stream":true,"first_us":79000,"end_us":299000,"queue_us":10,"prefill_us":70000,"decode_us":220000,"output_tokens":4,"input_tokens":9,"replica":"r2","trace_id":"4bf92f3577b34da6a3ce929d0e0e4736","span_id":"00f067aa0ba902b7","source_format":"two"}
`
