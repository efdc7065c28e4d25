package analyze

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestSpool writes streams in several blocks by several workers, and reads each of them again as it was.
func TestSpool(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 8))
	e := &Engine{temp: t.TempDir()}
	p, err := e.newSpool("text", 2)
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	said := func(l *listed) string {
		return fmt.Sprint(l.request, "|", l.grp, "|", l.tenant, "|", l.replica, l.attempt, l.arrival, l.usual, l.steps, len(l.weights) > 0, l.weights)
	}
	var want, got []string
	edges := []int64{0, 1, math.MaxUint16 - 1, math.MaxUint16, math.MaxUint16 + 1, -1, math.MaxInt64, math.MinInt64}
	for i := range 9000 {
		l := listed{request: strings.Repeat("r", i%40), grp: fmt.Sprint("g\x00", i%3), tenant: "", replica: fmt.Sprint("é", i%5), attempt: int32(i) - 4, arrival: rng.Int64() - 1<<62, usual: rng.Float64()}
		for range rng.IntN(400) {
			l.steps = append(l.steps, rng.Int64N(1<<(1+rng.IntN(40))))
		}
		l.steps = append(l.steps, edges[i%len(edges)])
		if i%3 == 0 {
			l.weights = slices.Repeat([]int64{int64(i)}, len(l.steps))
		}
		want = append(want, said(&l))
		if err := p.put(i%2, &l); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.finish(); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	if err := p.walk(t.Context(), 3, func(_ int, l *listed) error {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, said(l))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(want)
	slices.Sort(got)
	if len(p.blocks) < 6 || !slices.Equal(got, want) {
		t.Errorf("%d blocks, %d streams of %d", len(p.blocks), len(got), len(want))
	}
}
