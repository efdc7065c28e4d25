package fakellm

import "math"

// answerLength is how many tokens the answer has and why it ends there ("length" or "stop").
func (c Config) answerLength(r request, draw uint64) (int, string) {
	limit := r.maxTokens
	if r.ignoreEOS || !c.NaturalStop {
		if limit == 0 {
			return c.OutputTokens, "stop"
		}
		return limit, "length"
	}
	natural := max(c.naturalLength(draw), r.minTokens)
	if limit > 0 && natural >= limit {
		return limit, "length"
	}
	return min(natural, maxOutput), "stop"
}

// naturalLength draws from a log-normal distribution with median OutputTokens (Box and Muller), at least 1.
func (c Config) naturalLength(draw uint64) int {
	radius := math.Sqrt(-2 * math.Log(unit(draw^0x6c656e)))
	z := radius * math.Cos(2*math.Pi*unit(draw^0x616e67))
	tokens := math.Round(float64(c.OutputTokens) * math.Exp(c.OutputSigma*z))
	return int(min(max(tokens, 1), maxOutput))
}
