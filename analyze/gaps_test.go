package analyze

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"reprise/ingest/trace"
	"reprise/queries"
)

// oddTraffic is randomTraffic over three hours with all that a sweep has a branch for: chunks of one read, unknown tokens, gaps of nothing and of 20 s, crowds, a replica
// of which no prefill is known, many tenants, long names.
func oddTraffic(rng *rand.Rand) []trace.Request {
	var out []trace.Request
	for part := range 3 {
		for i, r := range randomTraffic(rng) {
			*r.Arrival += int64(part) * 5400e6
			if part == 1 {
				*r.Arrival -= (*r.Arrival - 1e15 - 5400e6) * 3 / 4 // a crowd
			}
			r.RequestID = fmt.Sprintf("q%d", 1000*part+i)
			if i%2 == 0 {
				r.RequestID = "a request of a long name " + r.RequestID
			}
			r.RootRequestID, r.Tenant, r.SourceLine = r.RequestID, fmt.Sprint("tenant number ", rng.IntN(25)), int64(1000*part+i)
			if i%7 == 0 {
				r.Replica, r.ModelRequested = "lonely", "unknown"
				r.PrefillUS = nil
			}
			if i%5 == 0 {
				r.ChunkTokens, r.OutputTokens = nil, nil
			}
			oddGaps(rng, &r)
			out = append(out, r)
		}
	}
	return out
}

func oddGaps(rng *rand.Rand, r *trace.Request) {
	for k := range r.GapsUS {
		if k == 0 {
			continue
		}
		before := r.GapsUS[k]
		switch rng.IntN(25) {
		case 0:
			r.GapsUS[k] = int32(rng.IntN(300)) // of one read
		case 1:
			r.GapsUS[k] = 0
		case 2:
			if rng.IntN(10) == 0 {
				r.GapsUS[k] = 20_000_000
			}
		}
		moved := int64(r.GapsUS[k] - before)
		*r.LastUS += moved
		*r.EndUS += moved
	}
}

// TestSweepsAgainstText compares each sweep with the text of its view: the definition, as it runs without the sweep.
func TestSweepsAgainstText(t *testing.T) {
	e := newEngine(t)
	from, to := int64(1e15+2e6), int64(1e15+5400e6+2e6)
	rows := 0
	for i, c := range []struct {
		scope  queries.Scope
		params map[string]string
		views  []string
	}{
		{queries.Scope{}, nil, []string{"gap_pools", "stretched_windows", "stood_gaps", "chunk_sums", "chunk_counts", "gap_counts", "chunk_blame", "decode_load", "blamed", "clean_steps", "batch_time"}},
		{queries.Scope{By: []string{"tenant"}}, map[string]string{"bin_us": "1000000"}, []string{"chunk_sums", "chunk_counts", "gap_counts", "clean_steps", "batch_time"}},
		{queries.Scope{From: &from, To: &to}, map[string]string{"run_us": "150000", "stretch": "1"}, []string{"stood_gaps", "stretched_windows", "blamed"}},
		{queries.Scope{}, map[string]string{"chunk_times": "false"}, []string{"stall_sums", "blamed"}},
	} {
		run := writeRun(t, sharing(oddTraffic(rand.New(rand.NewPCG(uint64(i), 9)))))
		for _, view := range c.views {
			rows += compareSweep(t, e, run, view, c.scope, c.params)
		}
	}
	if rows < 10000 {
		t.Errorf("compared %d rows", rows)
	}
}

// In parts of replicas, as large runs without chunk times have them, the sweeps give what they give at once. Such a run has no gaps.
func TestSweepsInParts(t *testing.T) {
	e := newEngine(t)
	e.stretch = 40
	requests := oddTraffic(rand.New(rand.NewPCG(3, 9)))
	for i := range requests {
		requests[i].GapsUS, requests[i].ChunkTokens = nil, nil
	}
	run := writeRun(t, sharing(requests))
	for view, least := range map[string]int{"decode_load": 100, "stretched_windows": 100, "gap_pools": 0, "chunk_sums": 0, "chunk_counts": 0, "chunk_blame": 0, "clean_steps": 0, "stood_gaps": 0} {
		if n := compareSweep(t, e, run, view, queries.Scope{}, nil); n < least {
			t.Errorf("%s: compared %d rows", view, n)
		}
	}
}

func compareSweep(t *testing.T, e *Engine, run *Run, view string, sc queries.Scope, params map[string]string) int {
	t.Helper()
	src, err := e.mount(context.Background(), run)
	if err != nil {
		t.Fatal(err)
	}
	text := "SELECT * FROM " + view
	values := map[string]string{}
	for _, p := range queries.Parameters(queries.Query{Text: text}) {
		if p.Name == "fits" {
			values["fits"] = oracleFits["fits"]
		}
		if v, ok := params[p.Name]; ok {
			values[p.Name] = v
		}
	}
	composed, err := queries.ComposeText(text, src, sc, values)
	if err != nil {
		t.Fatal(err)
	}
	swept := rowsOf(t, func() (rowsReader, error) { return e.queryHere(t.Context(), composed) })
	plain := rowsOf(t, func() (rowsReader, error) { return e.conn.QueryContext(t.Context(), composed) })
	if len(swept) != len(plain) {
		t.Errorf("%s %v: %d rows, the text gives %d", view, params, len(swept), len(plain))
		return 0
	}
	for i := range plain {
		if !slices.EqualFunc(swept[i], plain[i], alike) {
			t.Errorf("%s %v: got %v\nthe text gives %v", view, params, swept[i], plain[i])
			return 0
		}
	}
	return len(plain)
}

// alike takes doubles as equal when they differ by rounding, and microseconds that were rounded from such.
func alike(a, b any) bool {
	switch x := a.(type) {
	case float64:
		y, ok := b.(float64)
		return ok && math.Abs(x-y) <= 1e-3+1e-9*math.Abs(y)
	case int64:
		if y, ok := b.(int64); ok && max(x-y, y-x) <= 1 {
			return true
		}
	}
	return fmt.Sprint(a) == fmt.Sprint(b)
}

type rowsReader interface {
	Columns() ([]string, error)
	Next() bool
	Scan(into ...any) error
	Close() error
	Err() error
}

// rowsOf reads all rows, in the order of what identifies them.
func rowsOf(t *testing.T, query func() (rowsReader, error)) [][]any {
	t.Helper()
	rows, err := query()
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var out [][]any
	for rows.Next() {
		row, into := make([]any, len(names)), make([]any, len(names))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		out = append(out, row)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	key := func(row []any) string {
		var b strings.Builder
		for i, v := range row {
			if _, double := v.(float64); !double && names[i] != "inflicted_us" {
				fmt.Fprintf(&b, "%v|", v)
			}
		}
		return b.String()
	}
	slices.SortFunc(out, func(a, b []any) int { return strings.Compare(key(a), key(b)) })
	return out
}

// TestLengthQuantile takes ranks of short and long lengths in many blocks.
func TestLengthQuantile(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 7))
	for _, n := range []int{0, 1, 2, 31, 5000, 20001} {
		var l lengths
		var all []float64
		for range n {
			v := rng.Int64N(1 << (1 + rng.IntN(30)))
			l.add(v)
			all = append(all, float64(v))
		}
		slices.Sort(all)
		for _, p := range []float64{.1, .5} {
			var pool pooled
			pool.put(&l)
			count, got := pool.quantile(p)
			if n == 0 {
				if got != nil || count != 0 {
					t.Errorf("of nothing: %v, %v", count, got)
				}
				continue
			}
			h := float64(n-1) * p
			low, high := all[int(h)], all[min(int(h)+1, n-1)]
			if want := low + (h-math.Floor(h))*(high-low); count != int64(n) || math.Abs(got.(float64)-want) > 1e-6 {
				t.Errorf("quantile %v of %d: %v of %d, want %v", p, n, got, count, want)
			}
		}
	}
}

// TestClassPlaces: a class has one place, and a place is of one class.
func TestClassPlaces(t *testing.T) {
	for n := range int64(300) {
		c := streamClass(n)
		if classAt(place(c)) != c || c > n || n >= 8 && float64(n-c) >= float64(n)/4 {
			t.Errorf("%d streams: class %d, place %d, which is of class %d", n, c, place(c), classAt(place(c)))
		}
		if n > 0 && place(c) != place(streamClass(n-1)) && place(c) != place(streamClass(n-1))+1 {
			t.Errorf("a place is left out before %d streams", n)
		}
	}
}
