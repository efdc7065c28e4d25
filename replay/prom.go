package replay

import (
	"math"
	"strconv"
	"strings"

	"reprise/ingest/trace"
)

// parseProm reads a page in Prometheus' text format (https://prometheus.io/docs/instrumenting/exposition_formats), or
// OpenMetrics, and returns name, labels and value of each line. Left out are the buckets of histograms (most of a page,
// and requests are measured one by one here), times of creation, and values that are not finite. bad counts lines that are
// neither a sample nor a comment.
func parseProm(page string) (samples []trace.Sample, bad int) {
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		s, ok := promLine(line)
		switch {
		case !ok:
			bad++
		case strings.HasSuffix(s.Name, "_bucket") || strings.HasSuffix(s.Name, "_created") || math.IsNaN(s.Value) || math.IsInf(s.Value, 0):
		default:
			samples = append(samples, s)
		}
	}
	return samples, bad
}

// promLine reads NAME{LABELS} VALUE, and ignores a time or an exemplar behind it.
func promLine(line string) (s trace.Sample, ok bool) {
	end := strings.IndexAny(line, "{ \t")
	if end <= 0 {
		return s, false
	}
	name, rest := line[:end], line[end:]
	if rest[0] == '{' {
		close := labelsEnd(rest)
		if close < 0 {
			return s, false
		}
		s.Labels, rest = strings.Clone(strings.Trim(rest[1:close], ", ")), rest[close+1:]
	}
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return s, false
	}
	v, err := strconv.ParseFloat(fields[0], 64)
	s.Name, s.Value = strings.Clone(name), v
	return s, err == nil
}

// labelsEnd is the place of the brace that ends a label list; -1 without. A brace within quotes ends nothing.
func labelsEnd(s string) int {
	quoted := false
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case c == '}' && !quoted:
			return i
		}
	}
	return -1
}
