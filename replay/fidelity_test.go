package replay

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"reprise/replay/wire"
)

// tallied is a finished replay: item i was due at due[i] ms and left at sent[i] ms.
func tallied(due, sent []float64) *tally {
	p := &Plan{Options: PlanOptions{Lengths: LengthsRecorded}}
	t := newTally(&run{plan: p, opt: &Options{}, d: &dispatcher{}})
	t.r.turns = make([]turn, len(due))
	for i := range due {
		t.r.turns[i].after = -1
		p.Items = append(p.Items, Item{DueUS: int64(due[i] * 1000), InputTokens: 10, OutputTokens: 5})
		lag := time.Duration((sent[i] - due[i]) * float64(time.Millisecond))
		t.done = append(t.done, outcome{index: i, due: time.Duration(due[i] * float64(time.Millisecond)), sent: lag, lag: lag, written: true, kernel: true, ok: true, input: 10, output: 5, cached: -1, end: -1})
		t.nSent++
	}
	return t
}

func near(got *float64, want float64) bool { return got != nil && math.Abs(*got-want) < 1e-4 }

// metrics.md EX-6.1.
func TestEX61(t *testing.T) {
	f := tallied([]float64{0, 100, 200, 300, 400}, []float64{1, 101, 203, 330, 402}).fidelity(Health{})
	if math.Abs(f.Lag.P50US-2000) > 1e-6 || math.Abs(f.Lag.P99US-28920) > 1e-6 || math.Abs(f.Lag.MaxUS-30000) > 1e-6 {
		t.Errorf("lag %+v, want 2, 28.92 and 30 ms", f.Lag)
	}
	if !near(f.DriftMSPerS, 6.6667) && !near(f.DriftMSPerS, 20.0/3) {
		t.Errorf("drift %v, want 6.6667 ms/s", *f.DriftMSPerS)
	}
	if !near(f.ArrivalKS, .5) {
		t.Errorf("KS %v, want .5", *f.ArrivalKS)
	}
	if v := variation([]float64{100, 102, 127, 72}); math.Abs(*v-.194242) > 1e-6 {
		t.Errorf("CV %v, want .194242", *v)
	}
	if f.CVRatio != nil || f.Verdict != Degraded {
		t.Errorf("CV ratio of an even plan %v, verdict %s %v", f.CVRatio, f.Verdict, f.Reasons)
	}
}

// What a target takes to connect is not this client's lateness; what it does not take, ahead of the due time, is no credit either.
func TestLateness(t *testing.T) {
	due := time.Unix(1000, 0)
	at := func(us int) time.Time { return due.Add(time.Duration(us) * time.Microsecond) }
	for _, c := range []struct {
		begun, wait, sent int // microseconds from due; the wait is long
		reused            bool
		own, lag          int
	}{
		{begun: -600, wait: 300, sent: 0, own: 0, lag: 0},
		{begun: -600, wait: 1000, sent: 420, own: 20, lag: 420},
		{begun: 500, wait: 1000, sent: 1520, own: 520, lag: 1520},
		{begun: -250, wait: 400, sent: 180, reused: true, own: 180, lag: 180},
		{begun: -250, wait: 1, sent: 3000, own: 3000, lag: 3000},
	} {
		own, lag := lateness(&wire.Outcome{Begun: at(c.begun), ConnWait: time.Duration(c.wait) * time.Microsecond, Sent: at(c.sent), Reused: c.reused}, due)
		if own != at(c.own).Sub(due) || lag != at(c.lag).Sub(due) {
			t.Errorf("%+v: %v, %v of its own", c, lag, own)
		}
	}
	if own, lag := lateness(&wire.Outcome{Begun: at(-250), ConnWait: time.Second}, due); own != 0 || lag != 0 {
		t.Errorf("a call that was never written: %v, %v of its own", lag, own)
	}
}

func TestKS(t *testing.T) {
	for _, c := range []struct {
		a, b []float64
		tol  float64
		want float64
	}{
		{[]float64{1, 2, 3, 4}, []float64{1, 2, 3, 4}, 0, 0},
		{[]float64{1, 2, 3, 4}, []float64{5, 6, 7, 8}, 0, 1},
		{[]float64{1, 2}, []float64{2, 1, 9}, 0, 1.0 / 3},
		{[]float64{100, 100, 100, 100}, []float64{99.9, 100.1, 100.2, 99.8}, 0, .5},
		{[]float64{100, 100, 100, 100}, []float64{99.9, 100.1, 100.2, 99.8}, 1, 0},
		{[]float64{100, 100, 100, 100}, []float64{99.9, 100.1, 103, 99.8}, 1, .25},
		{[]float64{100, 100, 100, 100}, []float64{99.9, 100.1, 97, 99.8}, 1, .25},
	} {
		if got := ks(c.a, c.b, c.tol); math.Abs(*got-c.want) > 1e-12 {
			t.Errorf("ks(%v, %v, %v) = %v, want %v", c.a, c.b, c.tol, *got, c.want)
		}
	}
	if ks(nil, []float64{1}, 0) != nil || slope([]float64{1, 1}, []float64{1, 2}) != nil || variation(nil) != nil {
		t.Error("nothing to go by must be nil")
	}
}

func TestSlopeOfManyPoints(t *testing.T) {
	var x, y []float64
	for i := range 5000 {
		x, y = append(x, float64(i)), append(y, .25*float64(i)+float64(i%3))
	}
	y[17], y[4000] = 1e9, -1e9 // a median does not mind
	if s := slope(x, y); math.Abs(*s-.25) > .001 {
		t.Errorf("slope %v, want .25", *s)
	}
}

// A replay of 200 sends 10 ms apart, each 0.1 ms late, is faithful; every row spoils one thing.
func TestVerdicts(t *testing.T) {
	even := func(lag func(i int) float64) *tally {
		var due, sent []float64
		for i := range 200 {
			due, sent = append(due, float64(i)*10), append(sent, float64(i)*10+lag(i))
		}
		return tallied(due, sent)
	}
	jitter := func(i int) float64 { return .1 + .05*float64(i%3) }
	share := func(x float64) *float64 { return &x }
	for _, c := range []struct {
		name, verdict, word string
		t                   func() *tally
		h                   Health
	}{
		{"good", Faithful, "", func() *tally { return even(jitter) }, Health{CPUShare: share(.3)}},
		{"late", Degraded, "late", func() *tally { return even(func(int) float64 { return 20 }) }, Health{}},
		{"very late", Invalid, "late", func() *tally { return even(func(int) float64 { return 60 }) }, Health{}},
		{"one very late", Invalid, "longest 1500", func() *tally { return even(func(i int) float64 { return .1 + float64(i/199)*1500 }) }, Health{}},
		{"drift", Degraded, "drifts", func() *tally { return even(func(i int) float64 { return .02 * float64(i) }) }, Health{}},
		{"runaway", Invalid, "drifts", func() *tally { return even(func(i int) float64 { return float64(i) }) }, Health{}},
		{"bursts", Degraded, "distances", func() *tally { return even(func(i int) float64 { return 4 * float64(i%2) }) }, Health{}},
		{"interrupted", Degraded, "of 200 requests", func() *tally { x := even(jitter); x.nSent, x.done = 150, x.done[:150]; return x }, Health{}},
		{"held", Degraded, "waited", func() *tally { x := even(jitter); x.r.d.held = 3; return x }, Health{}},
		{"short prompts", Degraded, "90.0 %", func() *tally { x := even(jitter); each(x, func(o *outcome) { o.input = 9 }); return x }, Health{}},
		{"few odd prompts", Degraded, "within 2 %", func() *tally {
			x := even(jitter)
			x.done[3].input, x.done[9].input, x.done[10].input = 11, 9, 11
			return x
		}, Health{}},
		{"short answers", Degraded, "end-to-end", func() *tally { x := even(jitter); x.done[3].output = 4; return x }, Health{}},
		{"natural answers", Faithful, "", func() *tally {
			x := even(jitter)
			x.done[3].output = 4
			x.r.plan.Options.Lengths = LengthsNatural
			return x
		}, Health{}},
		{"warm cache", Degraded, "warm", func() *tally { x := even(jitter); x.words = 2000; each(x, func(o *outcome) { o.cached = 9 }); return x }, Health{}},
		{"lost sharing", Degraded, "recorded 50.0 %", func() *tally {
			x := even(jitter)
			x.words = 2000
			for i := range x.r.plan.Items {
				x.r.plan.Items[i].PrefixIDs, x.r.plan.Items[i].IdealHit = []int64{1}, 5
			}
			return x
		}, Health{}},
		{"slow connections", Degraded, "new connection", func() *tally {
			x := even(jitter)
			each(x, func(o *outcome) { o.wait = 20 * time.Millisecond })
			return x
		}, Health{}},
		{"used connections", Faithful, "", func() *tally {
			x := even(jitter)
			each(x, func(o *outcome) { o.wait, o.reused = 20*time.Millisecond, true })
			return x
		}, Health{}},
		{"blurred", Degraded, "blurred", func() *tally {
			x := even(jitter)
			each(x, func(o *outcome) { o.late, o.coalesced, o.chunks = 20*time.Millisecond, 1, 10 })
			return x
		}, Health{}},
		{"sent in pairs", Faithful, "", func() *tally {
			x := even(jitter)
			each(x, func(o *outcome) { o.coalesced, o.chunks = 5, 10 })
			return x
		}, Health{}},
		{"no stamps", Degraded, "no kernel stamps", func() *tally {
			x := even(jitter)
			each(x, func(o *outcome) { o.late, o.kernel = 20*time.Millisecond, false })
			return x
		}, Health{}},
		{"busy", Degraded, "processors", func() *tally { return even(jitter) }, Health{CPUShare: share(.95)}},
		{"collector", Degraded, "garbage", func() *tally { return even(jitter) }, Health{GCPauseP99: share(9000)}},
	} {
		f := c.t().fidelity(c.h)
		if f.Verdict != c.verdict || !strings.Contains(strings.Join(f.Reasons, "\n"), c.word) || (c.verdict == Faithful) != (len(f.Reasons) == 0) {
			t.Errorf("%s: got %s %v, want %s with %q", c.name, f.Verdict, f.Reasons, c.verdict, c.word)
		}
	}
}

func each(t *tally, f func(*outcome)) {
	for i := range t.done {
		f(&t.done[i])
	}
}

func TestFidelityCounts(t *testing.T) {
	x := tallied([]float64{0, 10, 20, 30}, []float64{15, 11, 21, 31})
	for i := range x.done {
		x.r.plan.Items[i].SessionID = "s"
		x.r.turns = x.r.plan.turns()
		x.done[i].end = 25 * time.Millisecond // from due: ends at 25, 35, 45 and 55 ms
	}
	x.done[0].reused, x.done[1].wait, x.done[2].coalesced, x.done[2].chunks, x.done[3].kernel = true, 3*time.Millisecond, 1, 4, false
	f := x.fidelity(Health{})
	if f.Inversions != 1 || f.TurnsEarly != 3 || f.Health.Connections != 3 || *f.Health.KernelShare != .75 || *f.Health.Coalesced != .25 {
		t.Errorf("%+v", f)
	}
	if d := cmp.Diff(0, rateDiff([]float64{0, 500, 999}, []float64{1, 501, 999.5})); d != "" {
		t.Error(d)
	}
	if got := rateDiff([]float64{0, 500, 999}, []float64{1, 501, 1000}); got != 1 {
		t.Errorf("rate difference %d, want 1", got)
	}
	empty := newTally(&run{plan: &Plan{Items: make([]Item, 3)}, opt: &Options{}, d: &dispatcher{}}).fidelity(Health{})
	if empty.Verdict != Degraded || empty.InputRatio != nil || empty.ArrivalKS != nil {
		t.Errorf("nothing sent: %+v", empty)
	}
}
