package reports

import (
	"maps"
	"slices"
	"strings"

	"reprise/analyze"
)

// coverageText says how many requests there are, how many of them enter latency statistics, and why the others do not.
func coverageText(c analyze.Coverage) string {
	if c.Requests == 0 && len(c.Excluded) == 0 {
		return ""
	}
	s := plural(c.Requests, "request") + ", " + count(c.Eligible) + " in latency statistics"
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
		s += "; not in them: " + strings.Join(out, ", ")
	}
	return s
}
