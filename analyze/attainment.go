package analyze

import "reprise/analyze/stats"

// Attainment is the share of requests that met an objective, with what chance allows.
type Attainment struct {
	Share, Low, High float64 // Wilson interval, 95 %
	Met              string  // is the objective met: pass, fail, inconclusive (exact binomial, metrics.md 2.3)
}

// Attain judges good of good + bad requests against an objective (0 to 1); nil without any. Both tests take requests as
// independent, which requests of one burst are not.
func Attain(good, bad int64, objective float64) *Attainment {
	n := int(good + bad)
	if n == 0 {
		return nil
	}
	a := Attainment{Share: float64(good) / float64(n), Met: stats.PercentileVerdict(int(bad), n, objective)}
	a.Low, a.High = stats.Wilson(int(good), n)
	return &a
}
