package analyze

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"reprise/ingest/trace"
)

func at(us int64) trace.Request {
	return trace.Request{RequestID: "a", RootRequestID: "a", Attempt: 1, Arrival: &us, ErrorClass: trace.ClassOK, SourceFormat: "test"}
}

func TestOpenErrors(t *testing.T) {
	empty := t.TempDir()
	other := t.TempDir()
	for _, dir := range []string{"day=2026-11-29", "bodies", "logs"} {
		if err := os.Mkdir(filepath.Join(other, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"day=2026-11-29/.partial.parquet", "day=2026-11-29/notes.txt", "bodies/part.parquet", "logs/part.parquet"} {
		if err := os.WriteFile(filepath.Join(other, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for dir, want := range map[string]string{
		filepath.Join(empty, "gone"): "expected a folder that reprise ingest wrote: stat ",
		empty:                        "expected day=YYYY-MM-DD/PART.parquet, as reprise ingest writes it",
		other:                        "expected day=YYYY-MM-DD/PART.parquet",
	} {
		if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), filepath.Base(dir)) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// A folder of days that somebody else wrote is told from a run.
func TestForeignParquet(t *testing.T) {
	e, dir := newEngine(t), filepath.Join(t.TempDir(), "day=2026-11-29")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := e.conn.ExecContext(t.Context(), "COPY (SELECT 1 AS a) TO '"+filepath.Join(dir, "part.parquet")+"' (FORMAT parquet)"); err != nil {
		t.Fatal(err)
	}
	run, err := Open(filepath.Dir(dir))
	if err == nil {
		_, err = e.Query(t.Context(), run, "latency", Scope{}, nil)
	}
	if err == nil || !strings.Contains(err.Error(), "expected what reprise ingest writes, got Parquet files that lack its columns") {
		t.Errorf("got %v", err)
	}
}

// TestPathsWithPatterns: DuckDB takes a path as a pattern, so special characters must not match other files.
func TestPathsWithPatterns(t *testing.T) {
	e := newEngine(t)
	base := t.TempDir()
	for i, dir := range []string{"run", "ru[n]", "ru?", "r*", "it's, {a}"} {
		if err := os.CopyFS(filepath.Join(base, dir), os.DirFS(writeRun(t, fullRequests(i+1)).Path)); err != nil {
			t.Fatal(err)
		}
		r, err := Open(filepath.Join(base, dir))
		if err != nil {
			t.Fatal(err)
		}
		res, err := e.Query(context.Background(), r, "overview", Scope{}, nil)
		if err != nil || res.Rows[0][1] != int64(i+1) {
			t.Errorf("%s: got %v, %v; want %d requests", dir, res.Rows, err, i+1)
		}
	}
}

// TestRangeIsHalfOpen: a request at the instant from is in, one at to is not, one without a time is in only without a range.
func TestRangeIsHalfOpen(t *testing.T) {
	e := newEngine(t)
	none := at(0)
	none.Arrival = nil
	run := writeRun(t, []trace.Request{at(999_999), at(1_000_000), at(1_999_999), at(2_000_000), none})
	for _, c := range []struct {
		from, to *int64
		want     int64
	}{{nil, nil, 5}, {trace.Ptr(int64(1_000_000)), trace.Ptr(int64(2_000_000)), 2}, {trace.Ptr(int64(1_000_000)), nil, 3}, {nil, trace.Ptr(int64(1_000_000)), 1},
		{trace.Ptr(int64(5)), trace.Ptr(int64(5)), 0}} {
		res, err := e.SQL(context.Background(), run, Scope{From: c.from, To: c.to}, "SELECT count(*) AS n FROM requests")
		if err != nil {
			t.Fatal(err)
		}
		if res.Rows[0][0] != c.want || res.Coverage.Requests != c.want {
			t.Errorf("%v to %v: %v rows, coverage %+v, want %d", c.from, c.to, res.Rows[0][0], res.Coverage, c.want)
		}
	}
}

// TestZoneOfTheMachine: no zone of the environment moves a stamp or a day.
func TestZoneOfTheMachine(t *testing.T) {
	t.Setenv("TZ", "Asia/Tokyo")
	e := newEngine(t)
	res, err := e.SQL(context.Background(), writeRun(t, []trace.Request{at(86_399_999_999)}), Scope{},
		"SELECT arrival_us, CAST(make_timestamp(arrival_us) AS VARCHAR) AS day, strftime(to_timestamp(arrival_us / 1e6), '%d %H') AS shown FROM requests")
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff([][]any{{int64(86_399_999_999), "1970-01-01 23:59:59.999999", "01 23"}}, res.Rows); diff != "" {
		t.Error(diff)
	}
}

// TestValues: what the driver returns becomes one of the kinds of a Result; what JSON cannot hold becomes nil and is counted.
func TestValues(t *testing.T) {
	e := newEngine(t)
	res, err := e.SQL(context.Background(), writeRun(t, fullRequests(1)), Scope{}, `-- a comment in front
SELECT CAST(1 AS TINYINT) AS a, CAST(2 AS UBIGINT) AS b, CAST(3 AS HUGEINT) AS c, CAST(170141183460469231731687303715884105727 AS HUGEINT) AS d,
  CAST(1.5 AS DECIMAL(9, 2)) AS e, CAST(0.5 AS REAL) AS f, CAST('NaN' AS DOUBLE) AS g, CAST('-Infinity' AS DOUBLE) AS h, NULL AS i, TRUE AS j, 'x' AS k,
  [1, NULL] AS l, TIMESTAMP '1970-01-01 00:00:01' AS m, DATE '1970-01-02' AS n;`)
	if err != nil {
		t.Fatal(err)
	}
	want := []any{int64(1), int64(2), int64(3), 1.7014118346046923e38, 1.5, 0.5, nil, nil, nil, true, "x", []any{int64(1), nil}, int64(1_000_000), int64(86_400_000_000)}
	if diff := gocmp.Diff(want, res.Rows[0]); diff != "" {
		t.Error(diff)
	}
	if diff := gocmp.Diff([]Warning{{"not_finite", "g: 1 values are not finite and shown as unknown"}, {"not_finite", "h: 1 values are not finite and shown as unknown"}},
		res.Warnings); diff != "" {
		t.Error(diff)
	}
	_, err = e.SQL(context.Background(), writeRun(t, fullRequests(1)), Scope{}, "SELECT {'a': 1} AS s")
	if err == nil || err.Error() != `sql: column "s": cannot show a value of this kind; cast it to a number or to text` {
		t.Errorf("got %v", err)
	}
}

func TestQueryErrors(t *testing.T) {
	e := newEngine(t)
	run := writeRun(t, fullRequests(1))
	ctx := context.Background()
	for want, f := range map[string]func() (*Result, error){
		`no query "latencies"; there are: `:                                         func() (*Result, error) { return e.Query(ctx, run, "latencies", Scope{}, nil) },
		`query latency: no parameter "x"; there are: failures, view, quantile_type`: func() (*Result, error) { return e.Query(ctx, run, "latency", Scope{}, map[string]string{"x": "1"}) },
		`query latency: cannot group by "day"; there are: model`:                    func() (*Result, error) { return e.Query(ctx, run, "latency", Scope{By: []string{"day"}}, nil) },
		`query goodput: parameter "tpot_slo_us" is given by the SLO`: func() (*Result, error) {
			return e.Query(ctx, run, "goodput", Scope{SLO: anySLO(t)}, map[string]string{"tpot_slo_us": "1"})
		},
		`query concurrency: parameter "to_us" is given by the time range`: func() (*Result, error) {
			return e.Query(ctx, run, "concurrency", Scope{To: trace.Ptr(int64(9))}, map[string]string{"to_us": "1"})
		},
		`expected a statement that begins with SELECT or WITH, got "DROP"`: func() (*Result, error) { return e.SQL(ctx, run, Scope{}, "DROP TABLE x") },
		`expected a statement that begins with SELECT or WITH, got ""`:     func() (*Result, error) { return e.SQL(ctx, run, Scope{}, " -- nothing") },
		`sql: Binder Error: Referenced column "ttft" not found`:            func() (*Result, error) { return e.SQL(ctx, run, Scope{}, "SELECT ttft FROM requests") },
		`query overview: read run "x": `: func() (*Result, error) {
			return e.Query(ctx, &Run{Path: "x", Parts: []string{"/gone.parquet"}}, "overview", Scope{}, nil)
		},
	} {
		if _, err := f(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestHostileNames: names from a log are data in every place of a statement.
func TestHostileNames(t *testing.T) {
	e := newEngine(t)
	rows := fullRequests(2)
	rows[0].Tenant, rows[1].Tenant = `'); DROP TABLE x; --`, "a / b\nNULL {grp} \u202e"
	run := writeRun(t, rows)
	res, err := e.Query(context.Background(), run, "overview", Scope{By: []string{"tenant"}}, nil)
	if err != nil || len(res.Rows) != 2 || res.Rows[0][0] != rows[0].Tenant || res.Rows[1][0] != rows[1].Tenant {
		t.Errorf("got %v, %v", res, err)
	}
}

func TestWarnings(t *testing.T) {
	e := newEngine(t)
	rows := fullRequests(3)
	rows[1].TTFTKind, rows[2].Vantage = trace.TTFTEngine, trace.Engine
	run := writeRun(t, rows)
	codes := func(name string, sc Scope) (out []string) {
		res, err := e.Query(context.Background(), run, name, sc, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range res.Warnings {
			out = append(out, w.Code)
		}
		return out
	}
	e2e, err := ParseSLO("e2e<=1s")
	if err != nil {
		t.Fatal(err)
	}
	one := trace.Ptr(int64(1))
	for _, c := range []struct {
		name string
		sc   Scope
		want []string
	}{
		{"latency", Scope{}, []string{"mixed_ttft_kinds"}}, {"goodput", Scope{}, []string{"no_slo"}}, {"goodput", Scope{SLO: anySLO(t)}, []string{"mixed_ttft_kinds"}},
		{"goodput", Scope{SLO: e2e}, nil}, {"latency", Scope{To: one}, nil}, {"lengths", Scope{}, nil},
	} {
		if diff := gocmp.Diff(c.want, codes(c.name, c.sc)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}
