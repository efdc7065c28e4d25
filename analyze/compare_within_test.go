package analyze

import (
	"math"
	"testing"

	"reprise/ingest/trace"
)

// Five requests by hand: their first tokens change by -100, 0, +10, +20 and +400 ms, on 200 ms each. One got faster, three slower, one
// (+200 %) or two (10 % of 200 is 20, which is not more) by more than the margin. Type 7 over the sorted five: p5 is -100 + .2 x 100 = -80, p25 0,
// the median 10, p75 20, p95 20 + .8 x 380 = 324.
func TestWithinPairs(t *testing.T) {
	tr, rows := newTrial(t, ""), traffic(5)
	later := func(by []int64) []trace.Request {
		return changed(rows, func(i int, q *trace.Request) {
			first := 200_000 + by[i]
			q.FirstUS, q.GapsUS[0] = &first, int32(first)
			settle(q)
		})
	}
	c := tr.compare(tr.load(later(make([]int64, 5))), tr.load(later([]int64{-100_000, 400_000, 10_000, 0, 20_000})), CompareOptions{})
	d := c.Within[0]
	if d.Metric != "ttft" || d.N != 5 || d.Faster != 1 || d.Slower != 3 || d.MuchWorse != 1 {
		t.Errorf("%+v", d)
	}
	for i, got := range []float64{d.P5, d.P25, d.Median, d.P75, d.P95} {
		if want := []float64{-80, 0, 10, 20, 324}[i]; math.Abs(got-want) > 1e-9 {
			t.Errorf("quantile %d of the differences is %v, want %v", i, got, want)
		}
	}
	if d.MedianCI[0] > 10 || d.MedianCI[1] < 10 {
		t.Errorf("median 10 in %v", d.MedianCI)
	}
}

// Bands of prompt lengths: 255 and 256 tokens part them; a band with fewer than 30 pairs is not compared.
func TestLengthBands(t *testing.T) {
	tr, tokens := newTrial(t, ""), []int64{255, 256, 1023, 1024, 4095, 4096}
	rows := changed(traffic(125), func(i int, q *trace.Request) { q.InputTokens = &tokens[min(i/25, 5)]; q.CachedInputTokens = nil })
	run := tr.load(rows)
	c := tr.compare(run, run, CompareOptions{Lengths: true})
	got := map[string]int{}
	for _, g := range c.Lengths {
		got[g.Group] = g.Pairs
	}
	if len(got) != 2 || got["256 to 1023 tokens"] != 50 || got["1024 to 4095 tokens"] != 50 || c.Lengths[0].Group != "256 to 1023 tokens" {
		t.Errorf("%v", got)
	}
	if c := tr.compare(run, run, CompareOptions{}); c.Lengths != nil {
		t.Error("compared by length though nobody asked")
	}
	for want, n := range map[int][]int64{0: {0, 255}, 1: {256, 1023}, 2: {1024, 4095}, 3: {4096, 1 << 40}} {
		if band(n[0]) != want || band(n[1]) != want {
			t.Errorf("%v tokens are in bands %d and %d, want %d", n, band(n[0]), band(n[1]), want)
		}
	}
}
