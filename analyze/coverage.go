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

const coverageSQL = `SELECT coalesce(excluded, ''), coalesce(ttft_kind, 'unknown') || ' seen by ' || vantage, n, first, clockless
FROM (SELECT excluded, ttft_kind, vantage, count(*) AS n, count(ttft_us) AS first, count(CASE WHEN arrival_us IS NULL AND clock_domain <> 'wall' THEN 1 END) AS clockless
      FROM requests GROUP BY 1, 2, 3)
ORDER BY 1, 2`

// coverage counts the attempts in range, and why those without latency are left out. It looks once a range.
func (e *Engine) coverage(ctx context.Context, r *Run, sc Scope) (seen, error) {
	key := coverageKey{run: r, hasFrom: sc.From != nil, hasTo: sc.To != nil, from: deref(sc.From), to: deref(sc.To)}
	if s, ok := e.seen[key]; ok {
		return s, nil
	}
	s := seen{Coverage: Coverage{Excluded: map[string]int64{}}, kinds: map[string]int64{}}
	src, err := e.mount(ctx, r)
	if err != nil {
		return s, err
	}
	text, err := queries.ComposeText(coverageSQL, src, queries.Scope{From: sc.From, To: sc.To}, nil)
	if err != nil {
		return s, err
	}
	rows, err := e.query(ctx, text)
	if err != nil {
		return s, err
	}
	defer rows.Close()
	for rows.Next() {
		var reason, kind string
		var n, first, clockless int64
		if err := rows.Scan(&reason, &kind, &n, &first, &clockless); err != nil {
			return s, err
		}
		if src.Mixed {
			s.clockless += clockless
		}
		s.add(reason, kind, n, first)
	}
	if err := rows.Err(); err != nil {
		return s, err
	}
	e.seen[key] = s
	return s, nil
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
