package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// EX-7.3 of metrics.md.
var (
	ex73Load       = []float64{.25, .5, .75, 1, 1.25, 1.5}
	ex73Attainment = []float64{1, .999, .995, .97, .70, .30}
	ex73P95        = []float64{200, 210, 230, 280, 700, 1800}
)

func TestEX73(t *testing.T) {
	for level, want := range map[float64]float64{.9: 1.064815, .99: .80} {
		if at, side := Crossing(ex73Load, ex73Attainment, level); math.Abs(at-want) > 5e-7 || side != 0 {
			t.Errorf("capacity@%g: %v (%d), want %v", level, at, side, want)
		}
	}
	if k := Knee(ex73Load, ex73P95); k != 3 || ex73Load[k] != 1 {
		t.Errorf("knee at %d, want 3", k)
	}
	if diff := gocmp.Diff(ex73Attainment, NonIncreasing(ex73Attainment, nil)); diff != "" {
		t.Errorf("a sequence that falls is changed:\n%s", diff)
	}
}

func TestCrossingEnds(t *testing.T) {
	for _, c := range []struct {
		y          []float64
		level, at  float64
		side       int
		whatItMean string
	}{
		{[]float64{.8, .7}, .9, 1, -1, "below the first"},
		{[]float64{.99, .95}, .9, 2, 1, "never below"},
		{[]float64{.9, .5}, .9, 1, 0, "exactly at the first"},
		{[]float64{1, .9}, .9, 2, 1, "exactly at the last"},
	} {
		if at, side := Crossing([]float64{1, 2}, c.y, c.level); at != c.at || side != c.side {
			t.Errorf("%s: %v (%d), want %v (%d)", c.whatItMean, at, side, c.at, c.side)
		}
	}
	if Knee([]float64{1, 2}, []float64{1, 2}) != -1 || Knee([]float64{1, 2, 3}, []float64{1, 1, 1}) != -1 ||
		Knee([]float64{1, 2, 3}, []float64{1, 2, 3}) != -1 || Knee([]float64{1, 2, 3}, []float64{1, 3, 4}) != -1 {
		t.Error("a knee where there is none")
	}
}

// By hand: .9 and .95 pool to .925; with weights 3 and 1 to .9125; a rise at the end pools back as far as it must.
func TestNonIncreasing(t *testing.T) {
	near := gocmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-12 })
	for _, c := range []struct{ v, w, want []float64 }{
		{nil, nil, []float64{}},
		{[]float64{.9, .95, .8}, nil, []float64{.925, .925, .8}},
		{[]float64{.9, .95, .8}, []float64{3, 1, 1}, []float64{.9125, .9125, .8}},
		{[]float64{.5, .4, .9}, nil, []float64{.6, .6, .6}},
	} {
		if diff := gocmp.Diff(c.want, NonIncreasing(c.v, c.w), near); diff != "" {
			t.Errorf("%v: %s", c.v, diff)
		}
	}
}

// Against the formula it is named for: min over i of max over j of the mean of v[i..j], for random sequences.
func TestNonIncreasingAgainstMinMax(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		v := make([]float64, 1+rng.IntN(8))
		for i := range v {
			v[i] = float64(rng.IntN(10))
		}
		got := NonIncreasing(v, nil)
		for k := range v {
			want := math.Inf(1)
			for i := 0; i <= k; i++ {
				most := math.Inf(-1)
				for j := k; j < len(v); j++ {
					sum := 0.0
					for _, x := range v[i : j+1] {
						sum += x
					}
					most = max(most, sum/float64(j-i+1))
				}
				want = min(want, most)
			}
			if math.Abs(got[k]-want) > 1e-9 {
				t.Fatalf("%v: got %v, want %v at %d", v, got, want, k)
			}
		}
	}
}

// By hand: 1 to 10 has S = 45, variance 125, z = 44 / sqrt(125); with a tie {1,1,2,3} S = 5, variance (156-18)/18.
func TestTrend(t *testing.T) {
	up := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	for _, c := range []struct {
		v    []float64
		want float64
	}{{up, 44 / math.Sqrt(125)}, {[]float64{1, 1, 2, 3}, 4 / math.Sqrt(138.0/18)}, {[]float64{2, 2, 2}, 0}, {nil, 0}} {
		if got := Trend(c.v); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v: %v, want %v", c.v, got, c.want)
		}
	}
	down := slices.Clone(up)
	slices.Reverse(down)
	if Trend(down) != -Trend(up) {
		t.Error("the other way round is not the opposite")
	}
}
