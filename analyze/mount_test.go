package analyze

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reprise/ingest/trace"
)

// A log that was ingested, grew, and was ingested again counts each call once; so do copies of a rotation that overlap.
func TestGrownLogCountsOnce(t *testing.T) {
	dir := t.TempDir()
	line := func(i int) string {
		return `{"request_id":"q` + string(rune('a'+i)) + `","arrival":` + []string{"5000000", "6000000", "7000000", "8000000", "9000000"}[i] +
			`,"vantage":"gateway","error_class":"ok","input_tokens":10,"output_tokens":3,"end_us":100}`
	}
	file := func(name string, lines ...int) string {
		var text []string
		for _, i := range lines {
			text = append(text, line(i))
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(strings.Join(text, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	e := newEngine(t)
	for name, c := range map[string]struct {
		run  *Run
		want int64
	}{
		"grown":      {ingested(t, file("a", 0, 1), file("b", 0, 1, 2)), 3},
		"overlap":    {ingested(t, file("c", 0, 1, 2), file("d", 2, 3, 4)), 5},
		"one by one": {ingested(t, file("e", 0, 1), file("f", 2, 3)), 4},
		"interlaced": {ingested(t, file("g", 0, 2, 4), file("h", 1, 3)), 5},
	} {
		calls := func(run *Run) int64 {
			res, err := e.SQL(t.Context(), run, Scope{}, "SELECT count(*), sum(input_tokens) FROM requests")
			if err != nil {
				t.Fatal(err)
			}
			return res.Rows[0][0].(int64)
		}
		if n := calls(c.run); n != c.want {
			t.Errorf("%s: %d calls, want %d", name, n, c.want)
		}
		if _, err := trace.Compact(t.Context(), c.run.Path); err != nil {
			t.Fatal(err)
		}
		compacted, err := Open(c.run.Path)
		if err != nil || len(compacted.Parts) != 1 {
			t.Fatal(compacted, err)
		}
		if n := calls(compacted); n != c.want {
			t.Errorf("%s, compacted: %d calls, want %d", name, n, c.want)
		}
	}
}

func TestOverlaps(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 500 {
		var ranges []span
		for range rng.IntN(7) {
			from := rng.Int64N(30)
			ranges = append(ranges, span{from, from + rng.Int64N(8)})
		}
		slices.SortFunc(ranges, func(a, b span) int { return int(a.from - b.from) })
		got := overlaps(ranges)
		for at := range int64(40) {
			holds := func(s span) bool { return s.from <= at && at <= s.to }
			n := 0
			for _, s := range ranges {
				if holds(s) {
					n++
				}
			}
			if slices.ContainsFunc(got, holds) != (n >= 2) {
				t.Fatalf("%v: overlaps %v, %d is in %d of them", ranges, got, at, n)
			}
		}
	}
}

// Times of a wall clock and of another are not set beside each other: the others are in no figure over time, and counted.
func TestMixedClocks(t *testing.T) {
	call := func(id, clock string, at int64) trace.Request {
		return trace.Request{RequestID: id, RootRequestID: id, Attempt: 1, Arrival: &at, Vantage: "engine", ClockDomain: clock, ErrorClass: "ok", EndUS: new(int64(1_000_000))}
	}
	e := newEngine(t)
	wall := int64(1_795_961_900_000_000)
	for name, c := range map[string]struct {
		rows    []trace.Request
		n       int64
		seconds float64
		warned  bool
	}{
		"mixed":    {[]trace.Request{call("a", "wall", wall), call("b", "wall", wall+9_000_000), call("c", "relative", 5_000_000)}, 2, 10, true},
		"relative": {[]trace.Request{call("a", "relative", 0), call("b", "relative", 5_000_000)}, 2, 6, false},
	} {
		res, err := e.SQL(t.Context(), writeRun(t, c.rows), Scope{}, "SELECT count(arrival_us), max(seconds) FROM requests CROSS JOIN covered")
		if err != nil {
			t.Fatal(err)
		}
		warned := slices.ContainsFunc(res.Warnings, func(w Warning) bool {
			return w.Code == "mixed_clocks" && strings.HasPrefix(w.Message, "1 requests have times")
		})
		if res.Rows[0][0] != c.n || res.Rows[0][1] != c.seconds || warned != c.warned {
			t.Errorf("%s: %v, %v", name, res.Rows, res.Warnings)
		}
	}
}
