package analyze

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestStretches asks for steps of time in stretches of 100 requests and at once: the answers are the same to the last bit.
func TestStretches(t *testing.T) {
	run := writeRun(t, randomRequests(rand.New(rand.NewPCG(7, 7)), 3000))
	whole, cut := newEngine(t), newEngine(t)
	cut.stretch = 100
	from, to := int64(10_000_001), int64(48_500_000)
	for name, sc := range map[string]Scope{"all": {}, "by": {By: []string{"model", "tenant"}}, "range": {From: &from, To: &to}, "open": {From: &to}} {
		for _, params := range []map[string]string{{"bin_us": "1000000"}, {"bin_us": "700001", "metric": "tpot"}} {
			cuts, err := cut.cuts(t.Context(), run, sc, 1_000_000)
			if err != nil || len(cuts) < 5 {
				t.Fatal(name, len(cuts), "cuts", err)
			}
			want, err := whole.Query(t.Context(), run, "latency_over_time", sc, params)
			if err != nil || len(want.Rows) < 10 {
				t.Fatal(name, err)
			}
			got, err := cut.Query(t.Context(), run, "latency_over_time", sc, params)
			if err != nil {
				t.Fatal(name, err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s %v: at once (-), in stretches (+)\n%s", name, params, diff)
			}
		}
	}
}

// TestStretchesApart: where a step of time is not that of a row, one statement answers.
func TestStretchesApart(t *testing.T) {
	rows := randomRequests(rand.New(rand.NewPCG(8, 8)), 200)
	rows[5].ClockDomain = "elsewhere"
	e := newEngine(t)
	e.stretch = 10
	if cuts, err := e.cuts(t.Context(), writeRun(t, rows), Scope{}, 1_000_000); err != nil || len(cuts) > 0 {
		t.Error(len(cuts), err)
	}
}
