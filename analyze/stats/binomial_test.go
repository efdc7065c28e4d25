package stats

import (
	"math/big"
	"testing"
)

func TestQuantileRanks(t *testing.T) { // EX-2.4
	for _, c := range []struct {
		n         int
		p         float64
		low, high int
		cov       float64
	}{
		{100, .5, 40, 61, .9648}, {1000, .95, 936, 964, .958095}, {1000, .99, 983, 997, .976095},
		{10000, .99, 9880, 9920, .955755}, {300, .99, 293, 301, 0}, {5, .05, 0, 2, 0},
	} {
		low, high, cov := QuantileRanks(c.n, c.p, .95)
		if low != c.low || high != c.high {
			t.Errorf("n=%d p=%v: ranks %d, %d; want %d, %d", c.n, c.p, low, high, c.low, c.high)
		}
		if c.cov > 0 {
			near(t, "coverage", cov, c.cov, 5e-5)
		}
	}
}

// A one-sided upper bound exists from 29, 59, 299 and 2995 values on (metrics.md 2.2).
func TestSmallestSampleWithUpperBound(t *testing.T) {
	for p, n := range map[float64]int{.9: 29, .95: 59, .99: 299, .999: 2995} {
		for size, has := range map[int]bool{n: true, n - 1: false} {
			if _, upper, _ := QuantileRanks(size, p, .9); (upper <= size) != has {
				t.Errorf("p=%v n=%d: upper rank %d", p, size, upper)
			}
		}
	}
}

func TestPercentileVerdict(t *testing.T) { // EX-2.6: pass up to, fail from
	for _, c := range []struct {
		n          int
		p          float64
		pass, fail int
	}{{1000, .99, 4, 16}, {500, .95, 16, 34}, {1000, .95, 38, 63}, {300, .99, 0, 7}, {10000, .99, 83, 118}} {
		for over, want := range map[int]string{c.pass: "pass", c.pass + 1: "inconclusive",
			c.fail - 1: "inconclusive", c.fail: "fail"} {
			if got := PercentileVerdict(over, c.n, c.p); got != want {
				t.Errorf("%d of %d over p=%v: %s, want %s", over, c.n, c.p, got, want)
			}
		}
	}
	if got := PercentileVerdict(0, 0, .99); got != "inconclusive" {
		t.Errorf("no requests: %s, want inconclusive", got)
	}
}

// Exact rational arithmetic is the oracle.
func TestBinomialAgainstRationals(t *testing.T) {
	for _, c := range []struct{ n, num, den int64 }{{1, 1, 2}, {7, 1, 10}, {40, 1, 2}, {60, 99, 100}} {
		sum := new(big.Rat)
		for k := int64(0); k <= c.n; k++ {
			term := new(big.Rat).SetInt(new(big.Int).Binomial(c.n, k))
			for i := range c.n {
				f := big.NewRat(c.num, c.den)
				if i >= k {
					f = big.NewRat(c.den-c.num, c.den)
				}
				term.Mul(term, f)
			}
			above, _ := new(big.Rat).Sub(big.NewRat(1, 1), sum).Float64() // P(X >= k)
			sum.Add(sum, term)
			below, _ := sum.Float64()
			p := float64(c.num) / float64(c.den)
			if got := BinomialCDF(int(k), int(c.n), p); got < below*(1-1e-9) || got > below*(1+1e-9) {
				t.Errorf("P(Bin(%d, %v) <= %d) = %v, want %v", c.n, p, k, got, below)
			}
			if got := BinomialSF(int(k), int(c.n), p); got < above*(1-1e-9) || got > above*(1+1e-9) {
				t.Errorf("P(Bin(%d, %v) >= %d) = %v, want %v", c.n, p, k, got, above)
			}
		}
	}
}

func TestWilson(t *testing.T) { // EX-2.5
	for _, c := range []struct {
		good, n int
		lo, hi  float64
	}{{3, 7, .158220, .749542}, {990, 1000, .981691, .994559}, {0, 0, 0, 1}} {
		lo, hi := Wilson(c.good, c.n)
		near(t, "lower", lo, c.lo, 5e-7)
		near(t, "upper", hi, c.hi, 5e-7)
	}
	if lo, _ := Wilson(0, 59); lo != 0 {
		t.Errorf("0 of 59: from %v", lo)
	}
	if _, hi := Wilson(59, 59); hi != 1 {
		t.Errorf("59 of 59: to %v", hi)
	}
	if lo, hi := Wilson(0, 5); lo != 0 || hi >= .5 {
		t.Errorf("0 of 5: [%v, %v]", lo, hi)
	}
	for n := 1; n < 50; n++ { // exactly, whatever the rounding
		if lo, _ := Wilson(0, n); lo != 0 {
			t.Errorf("0 of %d: from %v", n, lo)
		}
		if _, hi := Wilson(n, n); hi != 1 {
			t.Errorf("%d of %d: to %v", n, n, hi)
		}
	}
}

func TestMcNemar(t *testing.T) { // EX-2.7
	near(t, "p(12, 3)", McNemar(12, 3), .03515625, 1e-12)
	near(t, "p(3, 12)", McNemar(3, 12), .03515625, 1e-12)
	near(t, "p(0, 0)", McNemar(0, 0), 1, 0)
	near(t, "p(4, 4)", McNemar(4, 4), 1, 0)
	near(t, "p(0, 200) 2^199", McNemar(0, 200)/0x1p-199, 1, 1e-9)
}

// With p = 0 nothing happens, with p = 1 everything: the tails have no logarithms there.
func TestBinomialOfCertainties(t *testing.T) {
	for _, c := range []struct {
		k       int
		p       float64
		cdf, sf float64
	}{{0, 0, 1, 1}, {1, 0, 1, 0}, {12, 0, 1, 0}, {0, 1, 0, 1}, {11, 1, 0, 1}, {12, 1, 1, 1}, {13, 1, 1, 0}} {
		if cdf, sf := BinomialCDF(c.k, 12, c.p), BinomialSF(c.k, 12, c.p); cdf != c.cdf || sf != c.sf {
			t.Errorf("k=%d of 12, p=%v: CDF %v, SF %v; want %v, %v", c.k, c.p, cdf, sf, c.cdf, c.sf)
		}
	}
}
