package replay

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"reprise/ingest/trace"
)

// A run of lengths only: 4,000 calls at 5 a second take about 800 s, and the gaps of a Poisson process vary as much as
// they last. The order is the file's, whatever the order of reading.
func TestDraw(t *testing.T) {
	var rows []trace.Request
	for i := range 4000 {
		r := row(fmt.Sprintf("f:%d", i), 0, 5, 5)
		r.Arrival, r.SourceFile, r.SourceLine = nil, "f", int64(i)
		rows = append(rows, r)
	}
	if _, err := BuildPlan(seq(rows...), PlanOptions{}); err == nil || !strings.Contains(err.Error(), "no_arrival 4000") {
		t.Errorf("without a rate: %v", err)
	}
	p := mustPlan(t, PlanOptions{Rate: 5, Seed: 3}, rows...)
	sum, squares := 0.0, 0.0
	for i, it := range p.Items {
		if it.RequestID != fmt.Sprintf("f:%d", i) {
			t.Fatalf("call %d is %s", i, it.RequestID)
		}
		if i > 0 {
			gap := float64(it.DueUS-p.Items[i-1].DueUS) / 1e6
			sum, squares = sum+gap, squares+gap*gap
		}
	}
	n := float64(len(p.Items) - 1)
	mean := sum / n
	if cv := math.Sqrt(squares/n-mean*mean) / mean; math.Abs(mean-0.2) > 0.01 || math.Abs(cv-1) > 0.05 {
		t.Errorf("mean gap %.4f s, want 0.2; its variation %.3f, want 1", mean, cv)
	}
	if !slices.ContainsFunc(p.Summary.Notices, func(n Notice) bool { return n.Code == "drawn_arrivals" }) {
		t.Error("nobody is told that arrivals are drawn")
	}
	backwards := slices.Clone(rows)
	slices.Reverse(backwards)
	if again := mustPlan(t, PlanOptions{Rate: 5, Seed: 3}, backwards...); again.Items[7].DueUS != p.Items[7].DueUS {
		t.Error("the same seed drew other times")
	}
	if other := mustPlan(t, PlanOptions{Rate: 5, Seed: 4}, rows...); other.Items[7].DueUS == p.Items[7].DueUS {
		t.Error("another seed drew the same times")
	}
	for _, o := range []PlanOptions{{Rate: -1}, {Rate: math.NaN()}, {Rate: math.Inf(1)}} {
		if _, err := BuildPlan(seq(rows...), o); err == nil {
			t.Errorf("%v: want an error", o.Rate)
		}
	}
	if _, err := BuildPlan(seq(append(rows, row("timed", 5, 5, 5))...), PlanOptions{Rate: 5}); err == nil || !strings.Contains(err.Error(), `"timed"`) {
		t.Errorf("recorded and drawn times mixed: %v", err)
	}
}
