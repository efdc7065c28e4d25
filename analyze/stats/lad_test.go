package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// metrics.md EX-4.4: one wild request of five.
func TestEX44(t *testing.T) {
	x, y := []float64{0, 50, 100, 200, 400}, []float64{20, 25, 30, 40, 160}
	slope, intercept := TheilSen(x, y)
	near(t, "Theil-Sen slope", slope, .1, 1e-9)
	near(t, "Theil-Sen intercept", intercept, 20, 1e-9)
	// the wild one lies far out, so least absolute deviations follow it: through (50,25) and (400,160) the sum is 71.4, along .1 x + 20 it is 100
	fit := LAD(withOne(x), y, nil)
	near(t, "LAD slope", fit[1], 135./350, 1e-9)
}

// metrics.md EX-7.1: the last request waited 500 ms.
func TestEX71(t *testing.T) {
	x, y := []float64{100, 500, 1000, 2000, 4000}, []float64{30, 70, 120, 220, 920}
	slope, intercept := TheilSen(x, y)
	near(t, "b", slope, .1, 1e-9)
	near(t, "a", intercept, 20, 1e-9)
}

func TestTheilSenWithoutSpread(t *testing.T) {
	if slope, _ := TheilSen([]float64{3, 3}, []float64{1, 2}); !math.IsNaN(slope) {
		t.Errorf("slope %v, want NaN", slope)
	}
}

// The last digits of x, which hang on the order of a sum, make no slopes.
func TestTheilSenLastDigits(t *testing.T) {
	var x, exact, y []float64
	for i := range 40 {
		v := float64(1 + i%4)
		exact, x, y = append(exact, v), append(x, v+float64(i)*1e-13), append(y, 3*v+float64(i)/10)
	}
	want, _ := TheilSen(exact, y)
	got, _ := TheilSen(x, y)
	near(t, "slope", got, want, 1e-9)
}

// The intercept alone is the weighted median; a column that others determine gets 0.
func TestLADDegenerate(t *testing.T) {
	fit := LAD([][]float64{{1, 2, 0}, {1, 2, 1}, {1, 2, 5}}, []float64{7, 9, 17}, nil)
	near(t, "intercept", fit[0], 7, 1e-9)
	near(t, "constant column", fit[1], 0, 1e-9)
	near(t, "slope", fit[2], 2, 1e-9)
	near(t, "weighted median", LAD([][]float64{{1}, {1}, {1}}, []float64{1, 2, 10}, []float64{1, 1, 3})[0], 10, 1e-9)
	if LAD(nil, nil, nil) != nil {
		t.Error("a fit without rows")
	}
}

// The best plane passes through as many observations as it has columns: trying every choice is the oracle.
func TestLADAgainstEveryBasis(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 9))
	for range 200 {
		x, y, w := randomPlane(r)
		best := math.Inf(1)
		for i := range x {
			for j := range i {
				for k := range j {
					if fit := through(x, y, i, j, k); fit != nil {
						best = math.Min(best, loss(x, y, w, fit))
					}
				}
			}
		}
		if got := loss(x, y, w, LAD(x, y, w)); got > best*(1+1e-9) {
			t.Fatalf("sum %v, the best of all bases %v", got, best)
		}
	}
}

// randomPlane has coarse values, so that many observations lie on one plane, and some wild ones.
func randomPlane(r *rand.Rand) (x [][]float64, y, w []float64) {
	for range 6 + r.IntN(20) {
		row := []float64{1, float64(r.IntN(30)), float64(r.IntN(5))}
		v := 3 + 2*row[1] - row[2] + float64(r.IntN(3))
		if r.IntN(4) == 0 {
			v += r.Float64() * 500
		}
		x, y, w = append(x, row), append(y, v), append(w, float64(1+r.IntN(4)))
	}
	return x, y, w
}

// through solves the plane of three columns through three rows by Cramer's rule.
func through(x [][]float64, y []float64, rows ...int) []float64 {
	det := func(replaced int) float64 {
		var m [3][3]float64
		for i, row := range rows {
			copy(m[i][:], x[row])
			if replaced >= 0 {
				m[i][replaced] = y[row]
			}
		}
		return m[0][0]*(m[1][1]*m[2][2]-m[1][2]*m[2][1]) - m[0][1]*(m[1][0]*m[2][2]-m[1][2]*m[2][0]) + m[0][2]*(m[1][0]*m[2][1]-m[1][1]*m[2][0])
	}
	d := det(-1)
	if d == 0 {
		return nil
	}
	return []float64{det(0) / d, det(1) / d, det(2) / d}
}

func loss(x [][]float64, y, w, fit []float64) float64 {
	sum := 0.0
	for i := range x {
		rest := y[i]
		for j := range fit {
			rest -= fit[j] * x[i][j]
		}
		sum += w[i] * math.Abs(rest)
	}
	return sum
}

func withOne(x []float64) [][]float64 {
	var out [][]float64
	for _, v := range x {
		out = append(out, []float64{1, v})
	}
	return out
}
