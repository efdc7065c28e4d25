package reports

import (
	"fmt"
	"math"
	"strings"

	"reprise/analyze"
)

func noiseCells(n *analyze.NoiseDelta) []any {
	if n == nil {
		return []any{nil, nil, nil}
	}
	lo, hi := ci(n.CI)
	return []any{maybe(n.Ratio), lo, hi}
}

// noiseLine says in one sentence how far two runs of the base's target differ; "" when only one was given.
func noiseLine(c *analyze.Comparison) string {
	n := c.Noise
	if n == nil {
		return ""
	}
	if !n.Comparable {
		return fmt.Sprintf("Noise floor unknown: %s and %s are not comparable (%s).", c.Base, n.Run, strings.Join(n.WhyNot, "; "))
	}
	most, name := 0.0, ""
	for _, d := range c.Metrics {
		if d.Gated && d.Noise != nil && d.Noise.Ratio != nil && *d.Noise.Ratio > 0 {
			if by := math.Abs(math.Log(*d.Noise.Ratio)); by >= most {
				most, name = by, figureName(d)+" by "+signed(100*(*d.Noise.Ratio-1))+" %"
			}
		}
	}
	line := fmt.Sprintf("Noise floor (%s against %s, the same target twice): %s", c.Base, n.Run, n.Verdict)
	if name != "" {
		line += ", at most " + name
	}
	if len(n.Demoted) > 0 {
		line += "; within it, so undecided: " + strings.ReplaceAll(strings.Join(n.Demoted, ", "), "_", " ")
	}
	return line + "."
}
