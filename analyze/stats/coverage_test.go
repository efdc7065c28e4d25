package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// An interval of ranks covers the true quantile of skewed values (lognormal, sigma 1) in 95 % of samples: within .93 to
// .97 over 2,000 samples, and as often as QuantileRanks says. Fewer than some 12 values beyond the percentile leave too few ranks
// to choose from: P99 of 1,000 is covered in .976 (EX-2.4), never in less than .95.
func TestRanksCover(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	z := map[float64]float64{.5: 0, .95: 1.6448536269514722, .99: 2.3263478740408408} // normal quantiles
	for _, c := range []struct {
		n    int
		p    float64
		high float64
	}{{100, .5, .97}, {1000, .5, .97}, {300, .95, .97}, {1000, .95, .97}, {1500, .99, .97}, {2000, .99, .97}, {1000, .99, .985}} {
		lo, hi, coverage := QuantileRanks(c.n, c.p, .95)
		const runs = 2000
		covered, x := 0, make([]float64, c.n)
		for range runs {
			for i := range x {
				x[i] = math.Exp(r.NormFloat64())
			}
			slices.Sort(x)
			if truth := math.Exp(z[c.p]); x[lo-1] <= truth && truth <= x[hi-1] {
				covered++
			}
		}
		got := float64(covered) / runs
		if got < .93 || got > c.high || math.Abs(got-coverage) > .018 { // .018: over three standard deviations
			t.Errorf("P%g of %d: covered in %.4f, promised %.4f", 100*c.p, c.n, got, coverage)
		}
	}
}

// correlated are n lognormal values in order of time whose logarithm keeps rho of itself from one to the next.
func correlated(r *rand.Rand, n int, rho float64) []Value {
	values, z := make([]Value, n), r.NormFloat64()
	for i := range values {
		z = rho*z + math.Sqrt(1-rho*rho)*r.NormFloat64()
		values[i] = Value{math.Exp(z), int32(i)}
	}
	return values
}

// Values that come in bursts are fewer than they look. With a correlation of .9 from one to the next, ranks cover the
// median in about half of all samples, blocks of 50 in nearly nine of ten. Without it blocks do no harm.
func TestBlocksCoverBursts(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	const n, runs = 1000, 200
	lo, hi, _ := QuantileRanks(n, .5, .95)
	for _, c := range []struct{ rho, ranksLow, ranksHigh, blocksLow float64 }{{.9, .3, .65, .85}, {0, .9, 1, .88}} {
		ranks, blocks := 0, 0
		for seed := range runs {
			v := correlated(r, n, c.rho)
			if e := (Bootstrap{Clusters: n, B: 200, Block: 50, Seed: uint64(seed)}).Intervals(v, .5)[0]; e.Lo <= 1 && 1 <= e.Hi {
				blocks++
			}
			slices.SortFunc(v, func(a, b Value) int { return int(math.Copysign(1, a.V-b.V)) })
			if v[lo-1].V <= 1 && 1 <= v[hi-1].V {
				ranks++
			}
		}
		if got := float64(ranks) / runs; got < c.ranksLow || got > c.ranksHigh {
			t.Errorf("correlation %g: ranks cover the median in %.3f", c.rho, got)
		}
		if got := float64(blocks) / runs; got < c.blocksLow {
			t.Errorf("correlation %g: blocks cover the median in %.3f", c.rho, got)
		}
	}
}

// The estimate itself is the quantile of the sample, one value has no width, and a block as long as the sample is the sample.
func TestIntervalsOfOneSample(t *testing.T) {
	v := []Value{{10, 0}, {20, 1}, {30, 2}, {40, 3}}
	for _, c := range []struct {
		block int
		wide  bool
	}{{1, true}, {2, true}, {4, false}, {9, false}} {
		got := Bootstrap{Clusters: 4, B: 300, Block: c.block, Seed: 1}.Intervals(v, .5, .9)
		near(t, "P50", got[0].Value, 25, 1e-12)
		near(t, "P90", got[1].Value, 37, 1e-12)
		if wide := got[0].Hi > got[0].Lo; wide != c.wide {
			t.Errorf("block %d: %+v", c.block, got[0])
		}
	}
	// blocks of 2 from 4 neighbours: the pairs 10 20, 20 30 and 30 40, so no resample has a median below 15 or above 35
	if e := (Bootstrap{Clusters: 4, B: 300, Block: 2, Seed: 1}).Intervals(v, .5)[0]; e.Lo != 15 || e.Hi != 35 {
		t.Errorf("%+v", e)
	}
}
