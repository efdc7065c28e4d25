package analyze

import (
	"context"
	"testing"

	"reprise/ingest/trace"
)

// Four runs of known change, in the order base, candidate, candidate, base. A target that grows 1.3 times slower with time alone
// is no difference of targets: both halves have the candidate at another place of the same drift.
func TestABBA(t *testing.T) {
	rows := traffic(120)
	e := newEngine(t)
	times := func(tenths int64) SentRun {
		return SentRun{Run: writeRun(t, checked(changed(rows, scale(tenths, 10))))}
	}
	for _, c := range []struct {
		name    string
		tenths  [4]int64
		verdict string
	}{
		{"slower", [4]int64{10, 15, 15, 10}, Worse},
		{"the same", [4]int64{10, 10, 10, 10}, NonInferior},
		{"faster", [4]int64{10, 7, 7, 10}, Better},
		{"drift alone", [4]int64{10, 11, 12, 13}, Inconclusive},
		{"halves disagree", [4]int64{10, 15, 7, 10}, Inconclusive},
	} {
		var runs [4]SentRun
		for i, n := range c.tenths {
			runs[i] = times(n)
		}
		x, err := CompareABBA(context.Background(), e, runs, CompareOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if x.Verdict != c.verdict || x.GateFailed != (c.verdict == Worse) || len(x.Figures) != 9 {
			t.Errorf("%s: %s (%s, %s), want %s; %d figures", c.name, x.Verdict, x.Halves[0].Verdict, x.Halves[1].Verdict, c.verdict, len(x.Figures))
		}
	}
	other := changed(rows, func(_ int, q *trace.Request) { q.RequestID, q.RootRequestID = q.RequestID+"x", q.RootRequestID+"x" })
	x, err := CompareABBA(context.Background(), e, [4]SentRun{times(10), times(10), {Run: writeRun(t, checked(other))}, times(10)}, CompareOptions{})
	if err != nil || x.Verdict != NotComparable || !x.GateFailed {
		t.Errorf("%v %+v", err, x)
	}
}

func TestAgreed(t *testing.T) {
	for _, c := range [][3]string{{Better, NonInferior, NonInferior}, {Worse, Better, Inconclusive}, {Worse, NotComparable, NotComparable}, {Better, Inconclusive, Inconclusive}, {Worse, Worse, Worse}} {
		if agreed(c[0], c[1]) != c[2] || agreed(c[1], c[0]) != c[2] {
			t.Errorf("%v", c)
		}
	}
}
