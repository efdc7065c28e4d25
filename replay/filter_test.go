package replay

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"reprise/ingest/trace"
)

// Names of one member are alternatives, members add up; sessions that lose turns are counted.
func TestWhere(t *testing.T) {
	var rows []trace.Request
	for i, who := range []struct{ model, tenant, session string }{{"a", "t1", "s"}, {"b", "t1", "s"}, {"a", "t2", ""}, {"c", "t1", "r"}, {"a", "t1", ""}} {
		r := row(fmt.Sprint(i), int64(i)*10, 5, 5)
		r.ModelRequested, r.Tenant, r.SessionID = who.model, who.tenant, who.session
		rows = append(rows, r)
	}
	for _, c := range []struct {
		where map[string][]string
		want  string
		cut   bool
	}{
		{map[string][]string{"model": {"a"}}, "0 2 4", true},
		{map[string][]string{"model": {"a", "c"}, "tenant": {"t1"}}, "0 3 4", true},
		{map[string][]string{"tenant": {"t2"}}, "2", false},
		{map[string][]string{"endpoint": {"chat"}, "app": {""}}, "0 1 2 3 4", false},
	} {
		p := mustPlan(t, PlanOptions{Where: c.where}, rows...)
		var ids []string
		for _, it := range p.Items {
			ids = append(ids, it.RequestID)
		}
		if got := strings.Join(ids, " "); got != c.want || hasNotice(p.Summary.Notices, "sessions_cut") != c.cut {
			t.Errorf("%v: %s, notices %v; want %s", c.where, got, p.Summary.Notices, c.want)
		}
	}
	if _, err := BuildPlan(seq(rows...), PlanOptions{Where: map[string][]string{"model": {"x"}}}); err == nil || !strings.Contains(err.Error(), "5 are of another model") {
		t.Errorf("nothing matches: %v", err)
	}
	if _, err := BuildPlan(seq(rows...), PlanOptions{Where: map[string][]string{"colour": {"x"}}}); err == nil {
		t.Error("a member that does not exist is accepted")
	}
}

// lengthsOnly are n calls without arrivals.
func lengthsOnly(n int) []trace.Request {
	var rows []trace.Request
	for i := range n {
		r := row(fmt.Sprintf("f:%d", i), 0, 5, 5)
		r.Arrival, r.SourceFile, r.SourceLine = nil, "f", int64(i)
		rows = append(rows, r)
	}
	return rows
}

// moments are the mean and the coefficient of variation of the gaps of a plan, in seconds.
func moments(p *Plan) (mean, cv float64) {
	sum, squares, n := 0.0, 0.0, float64(len(p.Items)-1)
	for i := range p.Items[1:] {
		gap := float64(p.Items[i+1].DueUS-p.Items[i].DueUS) / 1e6
		sum, squares = sum+gap, squares+gap*gap
	}
	return sum / n, math.Sqrt(squares/n-sum*sum/n/n) / (sum / n)
}

// Gaps of mean 1/rate, and as variable as asked for.
func TestArrivals(t *testing.T) {
	rows := lengthsOnly(20_000)
	for arrivals, want := range map[string]float64{"": 1, "poisson": 1, "constant": 0, "gamma:1": 1, "gamma:0.3": .3, "gamma:3": 3} {
		p := mustPlan(t, PlanOptions{Rate: 5, Seed: 11, Arrivals: arrivals}, rows...)
		mean, cv := moments(p)
		// The mean of n gaps is known to cv/sqrt(n), their variation to a few of that where tails are heavy.
		if math.Abs(mean-.2) > 4*.2*(want+1e-6)/math.Sqrt(20_000) || math.Abs(cv-want) > .01+.05*want {
			t.Errorf("%q: mean gap %.4f s, want 0.2; variation %.3f, want %v", arrivals, mean, cv, want)
		}
	}
	same := func(a, b PlanOptions) bool {
		return mustPlan(t, a, rows[:100]...).Items[77].DueUS == mustPlan(t, b, rows[:100]...).Items[77].DueUS
	}
	if g := (PlanOptions{Rate: 5, Arrivals: "gamma:2", Seed: 1}); !same(g, g) || same(g, PlanOptions{Rate: 5, Arrivals: "gamma:2", Seed: 2}) {
		t.Error("the seed does not decide")
	}
	for _, bad := range []PlanOptions{{Rate: 5, Arrivals: "gamma"}, {Rate: 5, Arrivals: "gamma:0"}, {Rate: 5, Arrivals: "gamma:NaN"}, {Rate: 5, Arrivals: "gamma:99"},
		{Rate: 5, Arrivals: "burst"}, {Arrivals: "constant"}, {Ramp: time.Second}, {Rate: 5, Ramp: -time.Second}} {
		if _, err := BuildPlan(seq(rows...), bad); err == nil {
			t.Errorf("%+v: want an error", bad)
		}
	}
}

// At 10 a second after a ramp of 60 s, call n of a constant process is due when the integral of the rate is n: half of 600 in the
// ramp (n = 75 at 30 s, 300 at 60 s), then one each 0.1 s. Counted from the first call, which is at sqrt(2*60/10) = 3.464102 s.
func TestRamp(t *testing.T) {
	p := mustPlan(t, PlanOptions{Rate: 10, Arrivals: ArrivalsConstant, Ramp: time.Minute}, lengthsOnly(500)...)
	for n, at := range map[int]float64{1: 3.464102, 75: 30, 300: 60, 301: 60.1, 400: 70} {
		if got := float64(p.Items[n-1].DueUS)/1e6 + 3.464102; math.Abs(got-at) > 2e-6 {
			t.Errorf("call %d at %.6f s, want %.6f", n, got, at)
		}
	}
}

// Times of a retried call count from its first attempt.
func TestRetriedCallLasts(t *testing.T) {
	first, second := row("a", 1000, 5, 5), row("a2", 3000, 5, 5)
	first.ErrorClass, first.EndUS, second.RootRequestID, second.Attempt = trace.ClassUpstream, trace.Ptr(int64(100_000)), "a", 2
	p := mustPlan(t, PlanOptions{}, first, second)
	if it := p.Items[0]; len(p.Items) != 1 || it.Arrival != 1_000_000 || *it.EndUS != 2_500_000 {
		t.Errorf("%+v: want an end 2.5 s after the first attempt", it)
	}
}
