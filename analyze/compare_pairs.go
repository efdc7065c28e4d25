package analyze

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"reprise/analyze/stats"
)

// paired is one logical request that both runs hold.
type paired struct{ base, cand *logical }

type picker func(paired) *logical

func baseOf(p paired) *logical { return p.base }
func candOf(p paired) *logical { return p.cand }

// comparing is a comparison in progress.
type comparing struct {
	CompareOptions
	base, cand *sideRows
	pairs      []paired          // by id
	withheld   map[metric]string // why not
	out        *Comparison
}

// pair joins the two sides by id; ids that stand for several calls are left out.
func pair(base, cand *sideRows) []paired {
	byID := make(map[string]*logical, len(cand.rows))
	for i := range cand.rows {
		if r := &cand.rows[i]; !r.copied {
			byID[r.id] = r
		}
	}
	var out []paired
	for i := range base.rows {
		if c, b := byID[base.rows[i].id], &base.rows[i]; c != nil && !b.copied {
			out = append(out, paired{b, c})
		}
	}
	slices.SortFunc(out, func(a, b paired) int { return strings.Compare(a.base.id, b.base.id) })
	return out
}

// PairCounts counts logical requests by what the two runs made of them. Only pairs that finished well in both enter
// latency; the others are here, so that failing the slow ones is seen.
type PairCounts struct {
	BaseOnly  int `json:"base_only"` // whose id the other run does not hold
	CandOnly  int `json:"cand_only"`
	BothOK    int `json:"both_ok"`
	OKToNot   int `json:"ok_to_not_ok"`
	NotToOK   int `json:"not_ok_to_ok"`
	NeitherOK int `json:"neither_ok"`
}

func (x *comparing) counts() PairCounts {
	c := PairCounts{BaseOnly: onlyIn(x.base, x.cand), CandOnly: onlyIn(x.cand, x.base)}
	for _, p := range x.pairs {
		switch b, n := p.base.ok(), p.cand.ok(); {
		case b && n:
			c.BothOK++
		case b:
			c.OKToNot++
		case n:
			c.NotToOK++
		default:
			c.NeitherOK++
		}
	}
	return c
}

// onlyIn counts the rows of a run whose id the other run does not hold.
func onlyIn(s, other *sideRows) (n int) {
	ids := make(map[string]bool, len(other.rows))
	for i := range other.rows {
		ids[other.rows[i].id] = true
	}
	for i := range s.rows {
		if !ids[s.rows[i].id] {
			n++
		}
	}
	return n
}

// with returns the pairs that satisfy keep.
func (x *comparing) with(keep func(paired) bool) []paired {
	return slices.DeleteFunc(slices.Clone(x.pairs), func(p paired) bool { return !keep(p) })
}

func bothLatency(p paired) bool { return p.base.latency && p.cand.latency }

// fewClusters is below what a bootstrap of clusters can be trusted with; a finer unit is taken instead.
const fewClusters = 10

// clusters labels pairs by what varies together (metrics.md 2.4): the conversation where it is known, else the ten
// seconds of the base run's arrival, else the request. Sessions of one request each tell nothing and count as unknown.
func clusters(pairs []paired) (labels []int32, unit string, n int) {
	units := []struct {
		name string
		key  func(*logical) string
	}{{"session", sessionKey}, {"block", blockKey}, {"request", requestKey}}
	for _, u := range units {
		labels, n = label(pairs, u.key)
		if n >= fewClusters && (u.name != "session" || shared(pairs)) {
			return labels, u.name, n
		}
	}
	return labels, "request", n
}

func requestKey(r *logical) string { return "r" + r.id }

func blockKey(r *logical) string {
	if r.arrival == nil {
		return requestKey(r)
	}
	return "b" + strconv.FormatInt(*r.arrival/10_000_000, 10)
}

func sessionKey(r *logical) string {
	if r.session == "" {
		return blockKey(r)
	}
	return "s" + r.session
}

// shared says whether some session has two requests.
func shared(pairs []paired) bool {
	seen := map[string]bool{}
	for _, p := range pairs {
		if s := p.base.session; s != "" {
			if seen[s] {
				return true
			}
			seen[s] = true
		}
	}
	return false
}

func label(pairs []paired, key func(*logical) string) ([]int32, int) {
	number := map[string]int32{}
	labels := make([]int32, len(pairs))
	for i, p := range pairs {
		k := key(p.base)
		if _, ok := number[k]; !ok {
			number[k] = int32(len(number))
		}
		labels[i] = number[k]
	}
	return labels, len(number)
}

func (x *comparing) bootstrap(n int) stats.Bootstrap {
	return stats.Bootstrap{Clusters: n, B: resamples, Seed: x.Seed}
}

// quantileOf is nil for an empty sample, which it sorts.
func quantileOf(v []float64, p float64) *float64 {
	if len(v) == 0 {
		return nil
	}
	slices.SortFunc(v, cmp.Compare)
	q := stats.Quantile(v, p)
	return &q
}
