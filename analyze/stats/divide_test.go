package stats

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Series whose change points are known because they were put there.
func TestDivide(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	series := func(levels ...float64) []float64 {
		var x []float64
		for _, l := range levels {
			for range 20 {
				x = append(x, l+.3*r.NormFloat64())
			}
		}
		return x
	}
	for _, c := range []struct {
		x    []float64
		want []int
	}{
		{series(1, 1, 1), nil},
		{series(1, 3), []int{20}},
		{series(1, 3, 1, 5), []int{20, 40, 60}},
		{[]float64{1, 1, 1, 1, 1, 1, 1, 1}, nil},
		{[]float64{1, 9}, nil},
		{nil, nil},
	} {
		var at []int
		for _, p := range Divide(c.x, 3, .01) {
			at = append(at, p.At)
			if p.P < .005 || p.P > .01 {
				t.Errorf("p %v of a kept point", p.P)
			}
		}
		if diff := cmp.Diff(c.want, at); diff != "" {
			t.Errorf("%d values: %s", len(c.x), diff)
		}
	}
}

// Of series without a change about alpha are split: at most 4 of 100 at .01 (P(more) is .0034).
func TestDivideFalseAlarms(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	alarms := 0
	for range 100 {
		x := make([]float64, 40)
		for i := range x {
			x[i] = r.ExpFloat64()
		}
		if len(Divide(x, 3, .01)) > 0 {
			alarms++
		}
	}
	if alarms > 4 {
		t.Errorf("%d of 100 series without a change were split", alarms)
	}
}
