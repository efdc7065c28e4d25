package analyze

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"reprise/analyze/stats"
)

// GroupDelta compares the pairs of one group. Adjusted p-values are over all groups and figures shown.
type GroupDelta struct {
	Group   string  `json:"group"`
	Pairs   int     `json:"pairs"` // with latency in both runs
	Metrics []Delta `json:"metrics"`
}

const (
	minGroup  = 30 // pairs; smaller groups cannot tell
	maxGroups = 50 // the largest
)

// groups compares every group of the base run that is large enough; nil without By.
func (x *comparing) groups(pairs []paired) []GroupDelta {
	if len(x.Scope.By) == 0 {
		return nil
	}
	return x.split(pairs, func(p paired) string { return p.base.group })
}

// lengths compares the pairs by the tokens of their prompts; nil when nobody asked, or the base run does not tell.
func (x *comparing) lengths(pairs []paired) []GroupDelta {
	if !x.Lengths {
		return nil
	}
	known := slices.DeleteFunc(slices.Clone(pairs), func(p paired) bool { return p.base.input == nil })
	out := x.split(known, func(p paired) string { return lengthBands[band(*p.base.input)] })
	slices.SortFunc(out, func(a, b GroupDelta) int {
		return cmp.Compare(slices.Index(lengthBands, a.Group), slices.Index(lengthBands, b.Group))
	})
	return out
}

// lengthBands are those of the query incident_bad.
var lengthBands = []string{"under 256 tokens", "256 to 1023 tokens", "1024 to 4095 tokens", "4096 tokens and more"}

func band(tokens int64) int {
	i, _ := slices.BinarySearch([]int64{256, 1024, 4096}, tokens+1)
	return i
}

func (x *comparing) split(pairs []paired, name func(paired) string) []GroupDelta {
	by := map[string][]paired{}
	for _, p := range pairs {
		by[name(p)] = append(by[name(p)], p)
	}
	order := slices.SortedFunc(maps.Keys(by), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(by[b]), len(by[a])), strings.Compare(a, b))
	})
	out := []GroupDelta{}
	for _, g := range order {
		if len(by[g]) >= minGroup && len(out) < maxGroups {
			m, _ := x.metrics(by[g])
			out = append(out, GroupDelta{g, len(by[g]), m})
		}
	}
	if left := len(order) - len(out); left > 0 {
		x.out.warn("groups", "%d groups are not compared: fewer than %d pairs each, or beyond the %d largest", left, minGroup, maxGroups)
	}
	return out
}

// Curve is the distribution of one metric over the pairs, as quantiles of both runs at the same P; milliseconds.
type Curve struct {
	Metric string    `json:"metric"`
	P      []float64 `json:"p"`
	Base   []float64 `json:"base"`
	Cand   []float64 `json:"cand"`
}

// curves draws what metrics compares.
func (x *comparing) curves(pairs []paired) []Curve {
	out := []Curve{}
	for m, info := range latencyMetrics {
		var base, cand []float64
		for _, p := range pairs {
			if b, c := p.base.values[m], p.cand.values[m]; b != nil && c != nil && x.withheld[metric(m)] == "" {
				base, cand = append(base, *b/1e3), append(cand, *c/1e3)
			}
		}
		if len(base) > 0 {
			out = append(out, curve(info.name, base, cand))
		}
	}
	return out
}

func curve(metric string, base, cand []float64) Curve {
	slices.Sort(base)
	slices.Sort(cand)
	c := Curve{Metric: metric}
	for i := 0; i <= 100; i++ {
		c.P = append(c.P, float64(i)/100)
	}
	c.P = slices.Insert(c.P, 100, .995, .999)
	for _, p := range c.P {
		c.Base, c.Cand = append(c.Base, stats.Quantile(base, p)), append(c.Cand, stats.Quantile(cand, p))
	}
	return c
}
