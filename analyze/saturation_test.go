package analyze

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"reprise/ingest/trace"
)

// TestSaturated: one server at a time takes the calls in order. At 70 % of what it can do it keeps up, at 130 % it does not, also when it turns away half of
// what comes; a rising load is not told from a system that falls behind.
func TestSaturated(t *testing.T) {
	for _, c := range []struct {
		name    string
		every   func(i int) float64 // mean time to the next arrival, a service takes 10 ms
		refuses bool
		want    string
	}{
		{"keeps up", func(int) float64 { return 14e3 }, false, "no"},
		{"falls behind", func(int) float64 { return 7.7e3 }, false, "yes"},
		{"turns away", func(int) float64 { return 5e3 }, true, "yes"},
		{"rising load", func(i int) float64 { return 30e3 - 9*float64(i) }, false, "unknown"},
	} {
		rng := rand.New(rand.NewPCG(8, 8))
		var rows []trace.Request
		at, free := 0.0, 0.0
		for i := range 2000 {
			at += c.every(i) * rng.ExpFloat64()
			r := trace.Request{RequestID: fmt.Sprint(i), RootRequestID: fmt.Sprint(i), Attempt: 1, Vantage: trace.Client, ClockDomain: trace.Wall,
				ErrorClass: trace.ClassOK, Arrival: trace.Ptr(int64(at)), Stream: trace.Ptr(true)}
			if c.refuses && free > at+30e3 {
				r.ErrorClass, r.EndUS = trace.ClassRateLimited, trace.Ptr(int64(100))
			} else {
				r.FirstUS = trace.Ptr(int64(max(free, at)-at) + 1000)
				free = max(free, at) + 10e3
				r.EndUS = trace.Ptr(int64(free - at))
			}
			rows = append(rows, r)
		}
		res, err := newEngine(t).Query(t.Context(), writeRun(t, rows), "load", Scope{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		names := []string{"completed_share", "concurrency_trend", "ttft_trend", "arrivals_trend", "saturated"}
		if got := cells(t, res, names)[0]; got[4] != c.want {
			t.Errorf("%s: %v %v, want %s", c.name, names, got, c.want)
		}
	}
}

// TestLoadOracle looks at every call for each step and each pair of steps.
func TestLoadOracle(t *testing.T) {
	e := newEngine(t)
	for seed := range uint64(5) {
		rng := rand.New(rand.NewPCG(seed, 3))
		var rows []trace.Request
		for i := range 120 {
			r := trace.Request{RequestID: fmt.Sprint(i), RootRequestID: fmt.Sprint(i), Attempt: 1, Vantage: trace.Client, ClockDomain: trace.Wall,
				ErrorClass: trace.ClassOK, Arrival: trace.Ptr(rng.Int64N(5000)), Stream: trace.Ptr(true), FirstUS: trace.Ptr(rng.Int64N(300))}
			if rng.IntN(8) > 0 {
				r.EndUS = trace.Ptr(300 + rng.Int64N(900))
			}
			rows = append(rows, r)
		}
		res, err := e.Query(t.Context(), writeRun(t, rows), "load", Scope{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := cells(t, res, []string{"mean_concurrency", "concurrency_trend", "ttft_trend", "arrivals_trend"})[0]
		for i, want := range steppedLoad(rows) {
			if f, ok := got[i].(float64); !ok || !near(f, want) {
				t.Errorf("seed %d, figure %d: %v, want %v", seed, i, got[i], want)
			}
		}
	}
}

func steppedLoad(rows []trace.Request) [4]float64 {
	start, until := int64(math.MaxInt64), int64(0)
	for _, r := range rows {
		start, until = min(start, *r.Arrival), max(until, *r.Arrival+1)
	}
	busy := func(from, to int64) (us float64) {
		for _, r := range rows {
			if r.EndUS != nil {
				us += float64(max(0, min(*r.Arrival+*r.EndUS, to)-max(*r.Arrival, from)))
			}
		}
		return us
	}
	var load, ttft, arrivals []float64
	for i := range int64(30) {
		from, to := start+(until-start)*i/30, start+(until-start)*(i+1)/30
		n, sum := 0.0, 0.0
		for _, r := range rows {
			if *r.Arrival >= from && *r.Arrival < to {
				n, sum = n+1, sum+float64(*r.FirstUS)
			}
		}
		load, arrivals = append(load, busy(from, to)), append(arrivals, n)
		if n > 0 {
			ttft = append(ttft, sum/n)
		}
	}
	return [4]float64{busy(start, until) / float64(until-start), mannKendall(load), mannKendall(ttft), mannKendall(arrivals)}
}

func mannKendall(x []float64) float64 {
	s, n := 0, float64(len(x))
	for i := range x {
		for j := range i {
			s += cmp.Compare(x[i], x[j])
		}
	}
	return float64(s-cmp.Compare(s, 0)) / math.Sqrt(n*(n-1)*(2*n+5)/18)
}
