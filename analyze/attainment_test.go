package analyze

import (
	"math"
	"testing"
)

// EX-2.5 and EX-2.6 of metrics.md.
func TestAttain(t *testing.T) {
	for _, c := range []struct {
		good, bad int64
		objective float64
		lo, hi    float64
		met       string
	}{
		{990, 10, .99, .981691, .994559, "inconclusive"}, {996, 4, .99, math.NaN(), math.NaN(), "pass"},
		{984, 16, .99, math.NaN(), math.NaN(), "fail"}, {3, 4, .99, .158220, .749542, "fail"},
	} {
		a := Attain(c.good, c.bad, c.objective)
		if a.Met != c.met || math.Abs(a.Low-c.lo) > 1e-6 || math.Abs(a.High-c.hi) > 1e-6 {
			t.Errorf("%d of %d: %+v, want %s [%g, %g]", c.good, c.good+c.bad, *a, c.met, c.lo, c.hi)
		}
	}
	if a := Attain(0, 0, .99); a != nil {
		t.Errorf("no requests: %+v", a)
	}
}
