package analyze

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"reprise/analyze/stats"
)

// Incident is a stretch of time in which more requests missed the objective than the quiet part of the run explains.
type Incident struct {
	From, To int64 // microseconds since 1970, half open, whole bins
	Eligible int64 // requests with a verdict
	Bad      int64
	Failed   int64   // of the bad: errors and timeouts of the service
	Expected float64 // share of bad requests that the quiet bins and the objective allow
	Cause    string  // failures, retry_storm, long_prompts, more_requests, cache_loss, one_DIMENSION (replica, model ...), unexplained
	Tenant   string  // the tenant behind most of the extra load; "" when no single one is
	Text     string  // one sentence for people, with its numbers
	Onset    *int64  // when the load behind it began to grow; nil when that is not before From, or load is not the cause
	Diff     *Result // incident_diff of the window: what the load was
	Hit      *Result // incident_bad of the window: whose calls went bad
}

// Bins of the incident finder: about this many over the range, none shorter than ten seconds, and none longer than ten minutes:
// in a month's range an incident would be lost in the quiet hours around it.
const (
	incidentBins   = 60
	minIncidentBin = 10_000_000
	maxIncidentBin = 10 * minuteMicros
)

// Incidents finds the windows and explains each by what was different inside. The scope must hold an SLO.
//
// A bin is bad when its count of bad requests is too large to be chance: P(Bin(n, p0) >= bad) <= 0.01 / number of bins,
// with p0 the larger of what the objective allows and the median share of the quieter half of the bins. Bad bins less
// than three bins apart are one incident (metrics.md 2.5 and 3.6 in the form that a log of minutes allows).
func (e *Engine) Incidents(ctx context.Context, r *Run, sc Scope) ([]Incident, error) {
	bin, err := e.bin(ctx, r, sc)
	if err != nil || bin == 0 {
		return nil, err
	}
	return e.incidentsIn(ctx, r, sc, min(bin, maxIncidentBin))
}

// maxExplained bounds the incidents that are looked into: those with most bad requests. The others have no Diff.
const maxExplained = 20

// incidentsIn is [Engine.Incidents] with bins of a given length.
func (e *Engine) incidentsIn(ctx context.Context, r *Run, sc Scope, bin int64) ([]Incident, error) {
	res, err := e.Query(ctx, r, "incident_bins", sc, map[string]string{"bin_us": strconv.FormatInt(bin, 10)})
	if err != nil {
		return nil, err
	}
	found := incidentWindows(incidentRows(res), bin, 1-sc.SLO.Objective)
	order := make([]int, len(found))
	for i := range order {
		order[i] = i
		found[i].Cause, found[i].Text = "unexplained", "not looked into: others have more bad requests"
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(found[b].Bad, found[a].Bad) })
	for _, i := range order[:min(len(order), maxExplained)] {
		if err := e.explain(ctx, r, sc, &found[i]); err != nil {
			return nil, err
		}
		if err := e.onset(ctx, r, sc, bin, &found[i]); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// bin picks the bin of charts over time and of the incident finder from the span of arrivals: 10 s, or the next of 1, 2, 5
// times a power of ten seconds that gives at most 60 of them. 0 without arrivals.
func (e *Engine) bin(ctx context.Context, r *Run, sc Scope) (int64, error) {
	res, err := e.look(ctx, r, sc, "SELECT max(arrival_us) - min(arrival_us) AS span FROM requests")
	if err != nil {
		return 0, err
	}
	span, ok := res.Rows[0][0].(int64)
	if !ok {
		return 0, nil
	}
	return niceBin(span, incidentBins, minIncidentBin), nil
}

func niceBin(span int64, bins, least int64) int64 {
	for unit := int64(1_000_000); ; unit *= 10 {
		for _, m := range []int64{1, 2, 5} {
			if b := unit * m; b >= least && b*bins >= span {
				return b
			}
		}
	}
}

type incidentBinRow struct{ start, eligible, bad, failed int64 }

func incidentRows(r *Result) []incidentBinRow {
	rows := make([]incidentBinRow, 0, len(r.Rows))
	for _, row := range r.Rows {
		rows = append(rows, incidentBinRow{row[0].(int64), row[1].(int64), row[2].(int64), row[3].(int64)})
	}
	return rows
}

// incidentWindows unites bad bins. allowed is the share of bad requests that the objective permits. An incident of more than half
// of the log is in the quiet half, too: what is outside of it is then the better measure of a quiet time.
func incidentWindows(rows []incidentBinRow, bin int64, allowed float64) []Incident {
	expected := max(allowed, quietShare(rows))
	for {
		found := windowsAbove(rows, bin, expected)
		var outside []incidentBinRow
		for _, b := range rows {
			if !slices.ContainsFunc(found, func(in Incident) bool { return b.start >= in.From && b.start < in.To }) {
				outside = append(outside, b)
			}
		}
		quiet := max(allowed, badShare(outside))
		if len(outside) == 0 || quiet >= expected {
			return found
		}
		expected = quiet
	}
}

// windowsAbove unites the bins in which more than the expected share is bad, by more than chance.
func windowsAbove(rows []incidentBinRow, bin int64, expected float64) []Incident {
	var found []Incident
	for _, b := range rows {
		if b.bad < 3 || stats.BinomialSF(int(b.bad), int(b.eligible), expected) > 0.01/float64(len(rows)) {
			continue
		}
		if n := len(found); n > 0 && b.start-found[n-1].To < 3*bin {
			found[n-1].To = b.start + bin
		} else {
			found = append(found, Incident{From: b.start, To: b.start + bin, Expected: expected})
		}
	}
	for i := range found {
		for _, b := range rows {
			if f := &found[i]; b.start >= f.From && b.start < f.To {
				f.Eligible, f.Bad, f.Failed = f.Eligible+b.eligible, f.Bad+b.bad, f.Failed+b.failed
			}
		}
	}
	return found
}

// quietShare is the share of bad requests in the half of the bins with the lowest shares.
func quietShare(rows []incidentBinRow) float64 {
	sorted := slices.Clone(rows)
	slices.SortFunc(sorted, func(a, b incidentBinRow) int { return int(a.bad*b.eligible - b.bad*a.eligible) })
	return badShare(sorted[:(len(sorted)+1)/2])
}

func badShare(rows []incidentBinRow) float64 {
	var bad, all int64
	for _, b := range rows {
		bad, all = bad+b.bad, all+b.eligible
	}
	if all == 0 {
		return 0
	}
	return float64(bad) / float64(all)
}

func (e *Engine) onset(ctx context.Context, r *Run, sc Scope, bin int64, in *Incident) error {
	if in.Cause == "failures" || in.Cause == "retry_storm" || in.Cause == "unexplained" {
		return nil
	}
	who := ""
	if in.Tenant != "" {
		who = " AND tenant = '" + strings.ReplaceAll(in.Tenant, "'", "''") + "'"
	}
	res, err := e.look(ctx, r, sc, fmt.Sprintf(`SELECT arrival_us - mod(arrival_us, %d) AS start_us,
       CAST(sum(greatest(input_tokens - coalesce(cached_tokens, 0), 0)) AS BIGINT) AS fresh
FROM requests WHERE generation AND arrival_us IS NOT NULL AND input_tokens IS NOT NULL%s GROUP BY 1 ORDER BY 1`, bin, who))
	if err != nil || len(res.Rows) == 0 {
		return err
	}
	first := res.Rows[0][0].(int64)
	loads := make([]float64, (in.To-first)/bin)
	var outside []float64
	for _, row := range res.Rows {
		at, fresh := row[0].(int64), float64(row[1].(int64))
		if at < in.To {
			loads[(at-first)/bin] = fresh
		}
		if at < in.From || at >= in.To {
			outside = append(outside, fresh)
		}
	}
	if i := onsetBin(loads, outside); i >= 0 && first+int64(i)*bin < in.From {
		in.Onset = &[]int64{first + int64(i)*bin}[0]
		in.Text += fmt.Sprintf("; that load began to grow at %s UTC", time.UnixMicro(*in.Onset).UTC().Format("15:04:05"))
	}
	return nil
}

// onsetBin is the bin from which the loads grew and did not fall back until the last one, -1 when none did.
func onsetBin(loads, outside []float64) int {
	if len(outside) < 5 {
		return -1
	}
	slices.Sort(outside)
	mid := stats.Quantile(outside, .5)
	away := make([]float64, len(outside))
	for i, x := range outside {
		away[i] = max(x-mid, mid-x)
	}
	slices.Sort(away)
	scale := 1.4826 * stats.Quantile(away, .5)
	if scale == 0 {
		return -1
	}
	sums, _, _ := stats.CUSUM(loads, mid, scale)
	last := len(sums) - 1
	if last < 0 || sums[last] <= 5 {
		return -1 // an alarm that died away before the end was another matter
	}
	for last >= 0 && sums[last] > 0 {
		last--
	}
	return last + 1
}
