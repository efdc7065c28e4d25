package analyze

import (
	"context"
	"fmt"
	"math"
	"slices"

	"reprise/analyze/stats"
)

// WeekDelta is a percentile beside that of the week before, milliseconds. Ratio and its interval (hours of the week resampled) are
// nil where they cannot be given.
type WeekDelta struct {
	Group, Metric string
	Quantile      float64
	N, LastN      int64
	This, Last    float64
	Ratio         *RatioCI
	P, PAdj       *float64
	Verdict       string
}

// Bounds of the work on percentiles.
const (
	weekSample    = 200_000 // values of a metric and week that an interval is taken over; more are thinned evenly
	weekGroupsMax = 12      // groups whose percentiles are compared: those with most calls
)

// latency compares percentiles with the week before.
func (w *weekly) latency(ctx context.Context) error {
	res, err := w.query(ctx, "weekly_latency", w.both(), nil)
	if err != nil {
		return err
	}
	at, err := columnIndex(res, "metric", "grp", "week_us", "n", "p50", "p95", "p99")
	if err != nil {
		return err
	}
	w.out.Results["weekly_latency"] = res
	find := func(metric, group string, week int64) []any {
		i := slices.IndexFunc(res.Rows, func(row []any) bool {
			return row[at["metric"]] == metric && row[at["grp"]] == group && row[at["week_us"]] == week && deref(integer(row[at["n"]])) > 0
		})
		if i < 0 {
			return nil
		}
		return res.Rows[i]
	}
	samples, err := w.samples(ctx, res, at["n"])
	if err != nil {
		return err
	}
	for _, g := range w.out.Groups[:min(len(w.out.Groups), weekGroupsMax)] {
		for _, metric := range weekMetrics {
			this, last := find(metric, g.Name, w.o.From), find(metric, g.Name, w.o.From-weekMicros)
			if this == nil || last == nil {
				continue
			}
			changes := samples[sampleKey{g.Name, metric}].changes(w.o.Seed)
			for i, p := range weekQuantiles {
				d := WeekDelta{Group: g.Name, Metric: metric, Quantile: p, N: *integer(this[at["n"]]), LastN: *integer(last[at["n"]]), Verdict: Unclear}
				column := at[fmt.Sprintf("p%g", 100*p)]
				d.This, d.Last = *number(this[column]), *number(last[column])
				if changes != nil && changes[i].Ratio != nil {
					d.Ratio, d.P = ratioCI(changes[i]), &changes[i].P
				}
				w.out.Latency = append(w.out.Latency, d)
			}
		}
	}
	w.adjustLatency()
	return nil
}

var (
	weekMetrics   = []string{"ttft", "tpot", "e2e"}
	weekQuantiles = []float64{.5, .95, .99}
)

func (w *weekly) adjustLatency() {
	var p []float64
	for _, d := range w.out.Latency {
		if d.P != nil {
			p = append(p, *d.P)
		}
	}
	p = stats.BH(p)
	for i := range w.out.Latency {
		if d := &w.out.Latency[i]; d.P != nil {
			d.PAdj, p = &p[0], p[1:]
			d.Verdict = verdictOf(&d.Ratio.CI, *d.PAdj, 1, true)
		}
	}
}

type sampleKey struct{ group, metric string }

// weekSamples are the values of one metric of a group by hour of the week, last week's first.
type weekSamples struct {
	base, cand []stats.Value
	hours      [2]map[int32]bool
}

// samples reads the values that intervals are taken over, every so manieth call: by a hash of two times that are read anyway,
// held against a bound, for DuckDB then thins before it works anything out (with a remainder, which may fail, it does not).
func (w *weekly) samples(ctx context.Context, latency *Result, n int) (map[sampleKey]*weekSamples, error) {
	var most int64
	for _, row := range latency.Rows {
		most = max(most, deref(integer(row[n])))
	}
	thin := ""
	if every := uint64(most/weekSample + 1); every > 1 {
		thin = fmt.Sprintf("AND hash(arrival_us, end_us) < %d", math.MaxUint64/every)
	}
	res, err := w.look(ctx, w.run, w.both(), fmt.Sprintf(`SELECT grp, arrival_us - %d AS since_us, ttft_us, tpot_us, e2e_us FROM calls
WHERE latency AND arrival_us IS NOT NULL %s ORDER BY 1, 2, 3, 4, 5`, w.o.From, thin))
	if err != nil {
		return nil, err
	}
	out := map[sampleKey]*weekSamples{}
	for _, row := range res.Rows {
		since := row[1].(int64)
		for i, metric := range weekMetrics {
			v := number(row[2+i])
			if v == nil {
				continue
			}
			key := sampleKey{row[0].(string), metric}
			if out[key] == nil {
				out[key] = &weekSamples{hours: [2]map[int32]bool{{}, {}}}
			}
			out[key].add(since, *v/1e3)
		}
	}
	return out, nil
}

func (s *weekSamples) add(since int64, v float64) {
	if since < 0 {
		hour := int32((since + weekMicros) / hourMicros)
		s.base, s.hours[1][hour] = append(s.base, stats.Value{V: v, Cluster: hour}), true
		return
	}
	hour := int32(since / hourMicros)
	s.cand, s.hours[0][hour] = append(s.cand, stats.Value{V: v, Cluster: hour}), true
}

// changes is nil where hours are too few to resample.
func (s *weekSamples) changes(seed uint64) []stats.Change {
	if s == nil || len(s.hours[0]) < fewClusters || len(s.hours[1]) < fewClusters {
		return nil
	}
	return stats.Bootstrap{Clusters: weekMicros / hourMicros, B: resamples / 2, Seed: seed}.Quantiles(s.base, s.cand, weekQuantiles...)
}
