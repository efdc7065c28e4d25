package reports

import (
	"maps"
	"slices"
	"strings"

	"reprise/analyze"
)

// coverageText says over which requests a figure was taken and why the others are not in it.
func coverageText(c analyze.Coverage) string {
	if c.Requests == 0 && len(c.Excluded) == 0 {
		return ""
	}
	s := "over " + count(c.Eligible) + " of " + count(c.Requests) + " requests"
	if c.Requests > 0 {
		s += " (" + percent(float64(c.Eligible)/float64(c.Requests)) + ")"
	}
	var out []string
	for _, reason := range slices.Sorted(maps.Keys(c.Excluded)) {
		if n := c.Excluded[reason]; n > 0 {
			out = append(out, count(n)+" "+strings.ReplaceAll(plain(reason), "_", " "))
		}
	}
	if len(out) > 0 {
		s += "; left out: " + strings.Join(out, ", ")
	}
	return s
}
