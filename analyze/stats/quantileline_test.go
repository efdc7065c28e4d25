package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// By hand: nine points on 10 + 2 x and one far above; at .1 and at .5 the line is theirs, weights that make the far
// point everything pull it there.
func TestQuantileLine(t *testing.T) {
	var x, y, w []float64
	for i := range 9 {
		x, y, w = append(x, float64(i)), append(y, 10+2*float64(i)), append(w, 1)
	}
	x, y, w = append(x, 4), append(y, 500), append(w, 1)
	for _, tau := range []float64{.1, .5} {
		slope, intercept := QuantileLine(x, y, w, tau)
		near(t, "slope", slope, 2, 1e-12)
		near(t, "intercept", intercept, 10, 1e-12)
	}
	if slope, _ := QuantileLine([]float64{1, 1}, []float64{1, 2}, []float64{1, 1}, .5); !math.IsNaN(slope) {
		t.Errorf("slope %v of points with one x", slope)
	}
}

// Waits that are exponential lie above the line; the tenth percentile of them is known: -ln(.9) of the mean.
func TestQuantileLineUnderWaits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var x, y, w []float64
	for range 300 {
		u := 100 + 3900*r.Float64()
		x, y, w = append(x, u), append(y, 20+.1*u+100*r.ExpFloat64()), append(w, 1)
	}
	slope, intercept := QuantileLine(x, y, w, .1)
	near(t, "slope", slope, .1, .01)
	near(t, "intercept", intercept, 20-100*math.Log(.9), 15)
	below := 0
	for i := range x {
		if y[i] < intercept+slope*x[i]-1e-9 {
			below++
		}
	}
	if below < 27 || below > 31 { // a tenth, but for the two points on the line
		t.Errorf("%d of 300 points below the line at .1", below)
	}
}
