package analyze

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"reprise/queries"
)

// coverageKey is what coverage depends on.
type coverageKey struct {
	run            *Run
	from, to       int64
	hasFrom, hasTo bool
}

// seen is what a scope of a run holds.
type seen struct {
	Coverage
	clockless int64            // requests whose clock does not compare with that of the others
	kinds     map[string]int64 // requests with latency and a first token, by ttft_kind and vantage
}

// half is what one part of a range holds, when its first request arrived and when its last ended: nil without.
type half struct {
	seen
	first, last *int64
}

// coverageSQL counts the requests of each part of a range. Arrivals are read only where they part it.
const coverageSQL = `SELECT part, coalesce(excluded, ''), coalesce(ttft_kind, 'unknown') || ' seen by ' || vantage, n, first, clockless, first_us, last_us
FROM (SELECT %s AS part, excluded, ttft_kind, vantage, count(*) AS n, count(ttft_us) AS first, count(CASE WHEN arrival_us IS NULL AND clock_domain <> 'wall' THEN 1 END) AS clockless,
             %s
      FROM requests GROUP BY 1, 2, 3, 4)
ORDER BY 1, 2, 3`

// coverage counts the attempts in range, and why those without latency are left out. It looks once a range.
func (e *Engine) coverage(ctx context.Context, r *Run, sc Scope) (seen, error) {
	if s, ok := e.seen[keyOf(r, sc)]; ok {
		return s, nil
	}
	parts, err := e.halves(ctx, r, sc, nil)
	if err == nil {
		e.seen[keyOf(r, sc)] = parts[0].seen
	}
	return parts[0].seen, err
}

func keyOf(r *Run, sc Scope) coverageKey {
	return coverageKey{run: r, hasFrom: sc.From != nil, hasTo: sc.To != nil, from: deref(sc.From), to: deref(sc.To)}
}

// halves is the coverage of what arrived before a time and after it, of the first alone when there is no such time.
func (e *Engine) halves(ctx context.Context, r *Run, sc Scope, cut *int64) (out [2]half, err error) {
	for i := range out {
		out[i].seen = seen{Coverage: Coverage{Excluded: map[string]int64{}}, kinds: map[string]int64{}}
	}
	part, ends := "0", "NULL AS first_us, NULL AS last_us"
	if cut != nil {
		part, ends = fmt.Sprintf("CASE WHEN arrival_us >= %d THEN 1 ELSE 0 END", *cut), "min(arrival_us) AS first_us, max(arrival_us + greatest(coalesce(end_us, 0), 1)) AS last_us"
	}
	src, err := e.mount(ctx, r)
	if err != nil {
		return out, err
	}
	text, err := queries.ComposeText(fmt.Sprintf(coverageSQL, part, ends), src, queries.Scope{From: sc.From, To: sc.To}, nil)
	if err != nil {
		return out, err
	}
	rows, err := e.query(ctx, text)
	if err != nil {
		return out, err
	}
	defer rows.Close()
	for rows.Next() {
		var part, n, first, clockless int64
		var reason, kind string
		var from, till *int64
		if err := rows.Scan(&part, &reason, &kind, &n, &first, &clockless, &from, &till); err != nil {
			return out, err
		}
		h := &out[part]
		if src.Mixed {
			h.clockless += clockless
		}
		h.add(reason, kind, n, first)
		h.reach(from, till)
	}
	return out, rows.Err()
}

// reach widens what the half covers.
func (h *half) reach(from, till *int64) {
	if from != nil && (h.first == nil || *from < *h.first) {
		h.first = from
	}
	if till != nil && (h.last == nil || *till > *h.last) {
		h.last = till
	}
}

// and is the coverage of both.
func (s *seen) and(o seen) seen {
	out := seen{Coverage{s.Requests + o.Requests, s.Eligible + o.Eligible, maps.Clone(s.Excluded)}, s.clockless + o.clockless, maps.Clone(s.kinds)}
	for k, n := range o.Excluded {
		out.Excluded[k] += n
	}
	for k, n := range o.kinds {
		out.kinds[k] += n
	}
	return out
}

func (s *seen) add(reason, kind string, n, first int64) {
	s.Requests += n
	if reason != "" {
		s.Excluded[reason] += n
		return
	}
	s.Eligible += n
	if first > 0 {
		s.kinds[kind] += first
	}
}

// warnings are what a reader of the result must know about the requests behind it.
func (s *seen) warnings(res *Result, sc Scope) []Warning {
	var out []Warning
	if len(s.kinds) > 1 && readsFirstToken(res, sc) {
		var parts []string
		for _, kind := range slices.Sorted(maps.Keys(s.kinds)) {
			parts = append(parts, fmt.Sprintf("%d by %s", s.kinds[kind], kind))
		}
		out = append(out, Warning{"mixed_ttft_kinds", "first-token times of several kinds are pooled (" + strings.Join(parts, ", ") +
			"); group by ttft_kind or vantage to tell them apart"})
	}
	if s.clockless > 0 {
		out = append(out, Warning{"mixed_clocks", fmt.Sprintf("%d requests have times of another clock than the rest (relative or since a boot): they are in no figure over time", s.clockless)})
	}
	if !sc.SLO.has(sloMetrics...) && (res.has("attainment") || res.Query == "cost") {
		out = append(out, Warning{"no_slo", "no objective was given, so no request is judged"})
	}
	if slices.Contains(ofTokenDeadlines, res.Query) && !(sc.SLO.has("ttft") && sc.SLO.has("tpot")) {
		out = append(out, Warning{"no_deadlines", "tokens have deadlines only under an objective with both a ttft and a tpot term"})
	}
	return out
}

// ofTokenDeadlines are queries that read when each token was due.
var ofTokenDeadlines = []string{"deadlines", "smooth_goodput", "fluidity"}

// readsFirstToken says whether figures of the result hang on the first token's time.
func readsFirstToken(res *Result, sc Scope) bool {
	judges := res.has("attainment") && sc.SLO.has("ttft", "ttfvt", "tpot")
	return judges || strings.HasPrefix(res.Query, "latency") || strings.HasPrefix(res.Query, "ttft_")
}

func (res *Result) has(column string) bool {
	return slices.ContainsFunc(res.Columns, func(c Column) bool { return c.Name == column })
}
