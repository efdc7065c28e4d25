package analyze

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"reprise/ingest/trace"
)

// tokenTimes is when each token of a call came, milliseconds, and the chunks they came in.
type tokenTimes struct {
	at     []float64
	gaps   []int32 // microseconds
	counts []int32
}

func randomTokens(rng *rand.Rand) tokenTimes {
	var s tokenTimes
	now := 0.0
	for k := range 1 + rng.IntN(12) {
		gap := 5 + rng.IntN(60)
		if k == 0 {
			gap = 50 + rng.IntN(700)
		} else if rng.IntN(6) == 0 {
			gap = 200 + rng.IntN(1500)
		}
		n := 1 + rng.IntN(4)*rng.IntN(2)
		now += float64(gap)
		s.gaps, s.counts = append(s.gaps, int32(gap*1000)), append(s.counts, int32(n))
		for range n {
			s.at = append(s.at, now)
		}
	}
	return s
}

// worth is what metrics.md 3.3 to 3.5 say of token times, token by token: first and pace are the bounds.
type worth struct{ late, raw, best, decay, inTime, fluid, notTardy float64 }

func worthOf(at []float64, first, pace float64) worth {
	w := worth{late: math.Inf(-1)}
	slack, missed, total, tardy := 0.0, 0.0, 0.0, 0.0
	for i, t := range at {
		x := t - first - float64(i)*pace
		w.late = max(w.late, x)
		w.best = max(w.best, float64(i+1)-max(0, w.late)/pace)
		w.decay += math.Exp(-max(0, x) / 1000)
		if x <= 0 {
			w.inTime++
		}
		s, due := t, first
		if i > 0 {
			s, due = t-at[i-1], pace
		}
		if s <= due+slack {
			slack += due - s
			total++
		} else {
			m := math.Floor((s-slack-due)/pace) + 1
			missed, total, tardy, slack = missed+m, total+m, tardy+1, 0
		}
	}
	n := float64(len(at))
	w.raw = n - max(0, w.late)/pace
	w.fluid, w.notTardy = 1-missed/total, 1-tardy/n
	return w
}

// line puts tokens on a straight line between the first and the last.
func line(at []float64) []float64 {
	out := make([]float64, len(at))
	for i := range at {
		out[i] = at[0]
		if len(at) > 1 {
			out[i] += (at[len(at)-1] - at[0]) * float64(i) / float64(len(at)-1)
		}
	}
	return out
}

func streamRow(id string, s tokenTimes, chunks bool) trace.Request {
	last := int64(s.at[len(s.at)-1] * 1000)
	r := trace.Request{RequestID: id, RootRequestID: id, Attempt: 1, Arrival: trace.Ptr(int64(0)), FirstUS: trace.Ptr(int64(s.gaps[0])), LastUS: &last, EndUS: &last,
		Stream: trace.Ptr(true), OutputTokens: trace.Ptr(int64(len(s.at))), ErrorClass: trace.ClassOK, Vantage: trace.Client, ClockDomain: trace.Wall, TimePrecision: 1,
		SourceFormat: "test", Tenant: id}
	if chunks {
		r.GapsUS, r.ChunkTokens = s.gaps, s.counts
	}
	return r
}

// TestTimelinesAgainstOracle walks over the tokens of random streams, known by their chunks and by their ends, and checks
// the properties of metrics.md 3.4 and 9.
func TestTimelinesAgainstOracle(t *testing.T) {
	e := newEngine(t)
	slo, err := ParseSLO("ttft<=400ms,tpot<=30ms")
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	want := map[string]worth{}
	var rows []trace.Request
	for i := range 300 {
		s := randomTokens(rng)
		chunks, ends := fmt.Sprint("c", i), fmt.Sprint("e", i)
		if len(s.at) == 1 {
			continue // one piece: given whole
		}
		rows = append(rows, streamRow(chunks, s, true), streamRow(ends, s, false))
		want[chunks], want[ends] = worthOf(s.at, 400, 30), worthOf(line(s.at), 400, 30)
	}
	from, to := int64(0), int64(1_000_000) // rates over one second are sums
	sc := Scope{SLO: slo, By: []string{"tenant"}, From: &from, To: &to}
	ask := func(query string) map[string]map[string]any {
		out := map[string]map[string]any{}
		for _, row := range runQuery(t, e, writeRun(t, rows), query, sc, nil) {
			out[row["grp"].(string)] = row
		}
		return out
	}
	deadlines, smooth, fluid := ask("deadlines"), ask("smooth_goodput"), ask("fluidity")
	late := 0
	for id, w := range want {
		got := func(rows map[string]map[string]any, column string) float64 {
			if v := number(rows[id][column]); v != nil {
				return *v
			}
			return math.NaN()
		}
		check := func(what string, got, want float64) {
			if math.Abs(got-want) > 1e-6 || math.IsNaN(got) {
				t.Errorf("%s, %s: got %v, want %v", id, what, got, want)
			}
		}
		attains := 0.0
		if w.late <= 0 {
			attains = 1
		} else {
			late++
		}
		delivered := got(deadlines, "delivered_per_s")
		check("attains", got(deadlines, "attain_share"), attains)
		check("raw", got(smooth, "raw_per_s"), w.raw)
		check("best", got(smooth, "smooth_per_s"), w.best)
		if best := got(smooth, "smooth_per_s"); best > delivered+1e-9 || best < got(deadlines, "deadline_goodput_per_s")-1e-9 || w.late <= 0 && math.Abs(best-delivered) > 1e-9 {
			t.Errorf("%s: smooth %v, delivered %v", id, best, delivered)
		}
		if id[0] == 'c' {
			check("decay", got(smooth, "decay_per_s"), w.decay)
			check("in time", got(deadlines, "in_time_share")*delivered, w.inTime)
			check("fluidity", got(fluid, "index_mean"), w.fluid)
			check("tardy", got(fluid, "in_time_share"), w.notTardy)
		} else if smooth[id]["decay_per_s"] != nil || fluid[id]["index_mean"] != nil {
			t.Errorf("%s: ends tell neither decay nor fluidity", id)
		}
	}
	if late < 50 || late > len(want)-50 {
		t.Errorf("%d of %d are late, which tests little", late, len(want))
	}
}

// TestSmoothNeverRewards: delaying a token or dropping the tail of a reply raises neither the best prefix nor the decayed
// sum; what is late by the ends alone is late (metrics.md 3.3, 3.4).
func TestSmoothNeverRewards(t *testing.T) {
	e := newEngine(t)
	slo, err := ParseSLO("ttft<=400ms,tpot<=30ms")
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	var rows []trace.Request
	for i := range 150 {
		s := randomTokens(rng)
		if len(s.gaps) < 3 {
			continue
		}
		delayed := tokenTimes{gaps: append([]int32{}, s.gaps...), counts: s.counts, at: s.at}
		delayed.gaps[rng.IntN(len(s.gaps))] += int32(1000 * (1 + rng.IntN(900)))
		cut := 2 + rng.IntN(len(s.gaps)-2)
		shorter := tokenTimes{gaps: s.gaps[:cut], counts: s.counts[:cut], at: s.at}
		for kind, v := range map[string]tokenTimes{"a": s, "b": delayed, "c": shorter} {
			n := int64(0)
			last := int64(0)
			for k := range v.gaps {
				n, last = n+int64(v.counts[k]), last+int64(v.gaps[k])
			}
			r := streamRow(fmt.Sprintf("%03d%s", i, kind), v, true)
			r.OutputTokens, r.LastUS, r.EndUS = &n, &last, &last
			rows = append(rows, r)
		}
	}
	from, to := int64(0), int64(1_000_000)
	res, err := e.Query(context.Background(), writeRun(t, rows), "smooth_goodput", Scope{SLO: slo, By: []string{"tenant"}, From: &from, To: &to}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := cells(t, res, []string{"grp", "smooth_per_s", "decay_per_s"})
	if len(got) < 90 || len(got)%3 != 0 {
		t.Fatal(len(got))
	}
	for i := 0; i < len(got); i += 3 {
		for _, other := range got[i+1 : i+3] {
			for c := 1; c <= 2; c++ {
				if *number(other[c]) > *number(got[i][c])+1e-9 {
					t.Errorf("%v is worth more than %v", other, got[i])
				}
			}
		}
	}
}
