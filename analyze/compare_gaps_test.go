package analyze

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/ingest/trace"
)

// Long gaps can become rare while the usual ones grow: a percentile alone would hide one of the two.
func TestCompareLongGaps(t *testing.T) {
	tr := newTrial(t, "")
	rows := changed(traffic(200), func(i int, q *trace.Request) {
		if i%2 == 0 {
			q.GapsUS[5] = 300_000
			settle(q)
		}
	})
	cand := changed(rows, func(i int, q *trace.Request) {
		if q.GapsUS[5] == 300_000 && i > 10 {
			q.GapsUS[5], q.GapsUS[6] = 150_000, 150_000
		}
		settle(q)
	})
	c := tr.compare(tr.load(rows), tr.load(cand), CompareOptions{})
	want := map[float64][2]int{50: {100, 194}, 100: {100, 194}, 200: {100, 6}, 400: {0, 0}}
	verdicts := map[float64]string{50: Worse, 100: Worse, 200: Better, 400: NonInferior}
	for _, g := range c.LongGaps {
		if [2]int{g.Base, g.Cand} != want[g.Over] || g.Verdict != verdicts[g.Over] {
			t.Errorf("over %v ms: %+v, want %v %s", g.Over, g, want[g.Over], verdicts[g.Over])
		}
	}
	if g := c.LongGaps[2]; g.DiffCI[0] >= -94 || g.DiffCI[1] <= -94 || g.DiffCI[1] >= 0 {
		t.Errorf("interval %v around -94", g.DiffCI)
	}
}

// Every stream merges chunks by its own pace, whatever streams stand beside it: metrics.md 0.1 in Go is the oracle.
func TestGapsOfManyStreams(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	rows := traffic(60)
	want := map[attemptKey][]float64{}
	for i := range rows {
		q := &rows[i]
		q.GapsUS = q.GapsUS[:2+r.IntN(20)]
		for j := range q.GapsUS[1:] {
			q.GapsUS[j+1] = int32(50 + r.IntN(4000))
		}
		settle(q)
		q.OutputTokens = trace.Ptr(int64(len(q.GapsUS)))
		pace := float64(*q.LastUS-int64(q.GapsUS[0])) / float64(len(q.GapsUS)-1)
		if g := merged(q.GapsUS[1:], min(1000, pace/5)); len(g) > 0 {
			want[attemptKey{q.RequestID, 1}] = g
		}
	}
	run := newTrial(t, "").load(rows)
	if diff := cmp.Diff(want, run.gaps, cmp.AllowUnexported(attemptKey{})); diff != "" {
		t.Error(diff)
	}
	for _, l := range run.rows {
		if g := want[l.attempt]; len(g) > 0 && *l.values[maxGap] != slices.Max(g) {
			t.Errorf("%s: longest gap %v, want %v", l.id, *l.values[maxGap], slices.Max(g))
		}
	}
}

// merged gives the gaps between groups of chunks; a chunk within limit of the first of a group belongs to it.
func merged(gaps []int32, limit float64) (out []float64) {
	at, first := 0.0, 0.0
	for _, g := range gaps {
		if at += float64(g); at-first > limit {
			out = append(out, at-first)
			first = at
		}
	}
	return out
}
