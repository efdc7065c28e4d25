package analyze

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/queries"
)

// TestPieces asks a run at once, in stretches of 300 requests and by metric: the answers are the same to the last bit.
func TestPieces(t *testing.T) {
	run := writeRun(t, randomRequests(rand.New(rand.NewPCG(7, 7)), 3000))
	whole, cut := newEngine(t), newEngine(t)
	from, to := int64(10_000_001), int64(48_500_000)
	scopes := map[string]Scope{"by": {By: []string{"model", "tenant"}, To: &to}, "range": {From: &from, To: &to}}
	for _, c := range []struct {
		query  string
		params map[string]string
		least  int
	}{
		{"latency_over_time", map[string]string{"bin_us": "1000000"}, 4}, {"latency_over_time", map[string]string{"bin_us": "700001", "metric": "tpot"}, 4},
		{"latency", nil, 9}, {"latency", map[string]string{"failures": "inf", "quantile_type": "1"}, 9}, {"weekly_latency", nil, 9},
		{"lengths", nil, 0}, {"latency_weighted", nil, 0},
	} {
		for name, sc := range scopes {
			whole.stretch, cut.stretch = 1e9, 300
			want, got := inPieces(t, whole, run, asked{c.query, sc, c.params, 0}), inPieces(t, cut, run, asked{c.query, sc, c.params, c.least})
			if diff := cmp.Diff(want, got); diff != "" || len(want.Rows) == 0 {
				t.Errorf("%s %s %v: at once (-), in pieces (+)\n%s", c.query, name, c.params, diff)
			}
		}
	}
}

// asked is a query of a large run, and the least number of its pieces: 0 none.
type asked struct {
	name   string
	scope  Scope
	params map[string]string
	least  int
}

func inPieces(t *testing.T, e *Engine, run *Run, a asked) *Result {
	res, err := e.Query(t.Context(), run, a.name, a.scope, a.params)
	if err != nil {
		t.Fatal(a.name, err)
	}
	q, err := queries.Get(a.name)
	if err != nil {
		t.Fatal(err)
	}
	pieces, err := e.pieces(t.Context(), run, question{q, a.scope, a.params}, res)
	if err != nil || len(pieces) < a.least || a.least == 0 && len(pieces) > 0 {
		t.Fatal(a, len(pieces), "pieces", err)
	}
	return res
}

// TestStretchesApart: where the time of a row is not that of its call, pieces are metrics.
func TestStretchesApart(t *testing.T) {
	rows := randomRequests(rand.New(rand.NewPCG(8, 8)), 200)
	rows[5].ClockDomain = "elsewhere"
	run := writeRun(t, rows)
	whole, cut := newEngine(t), newEngine(t)
	cut.stretch = 10
	want, got := inPieces(t, whole, run, asked{name: "latency_over_time"}), inPieces(t, cut, run, asked{name: "latency_over_time", least: len(sampled) + 1})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
