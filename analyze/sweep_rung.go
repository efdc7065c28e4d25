package analyze

import (
	"context"
	"fmt"
	"strconv"

	"reprise/analyze/stats"
)

// Saturation (metrics.md 7.3): answers fall behind requests, or both the number at once and the time to the first token
// rise over the window while the load does not.
const (
	minCompleted = .95
	trendBins    = 20
	minTrendBins = 8
	maxTrend     = 1.645 // z of the Mann-Kendall test, one-sided 5 %
)

// Rung measures one load of a sweep: r holds speed, run and window. Figures are left out when the replay cannot be believed.
func (e *Engine) Rung(ctx context.Context, run *Run, r SweepRung, slo SLO) (SweepRung, error) {
	r.State, r.Why, r.Run = RungMeasured, []string{}, run.Path
	replays, err := e.replays(ctx, run)
	if err != nil {
		return r, err
	}
	for _, p := range replays {
		r.Verdict, r.Why = p.Fidelity.Verdict, append(r.Why, p.Fidelity.Reasons...)
		if p.Incomplete != "" {
			r.State, r.Why = RungIncomplete, append(r.Why, "stopped early: "+p.Incomplete)
		} else if p.Fidelity.Verdict == "INVALID" {
			r.State = RungInvalid
		}
	}
	if r.State != RungMeasured {
		return r, nil
	}
	m := rungMeter{e, run, &r, Scope{From: &r.From, To: &r.To, SLO: slo}}
	for _, step := range []func(context.Context) error{m.counts, m.goodput, m.latency, m.trends} {
		if err := step(ctx); err != nil {
			return r, fmt.Errorf("load of %g: %w", r.Speed, err)
		}
	}
	return r, nil
}

type rungMeter struct {
	e   *Engine
	run *Run
	*SweepRung
	scope Scope // of the window
}

func (m *rungMeter) seconds() float64 { return float64(m.To-m.From) / 1e6 }

// counts takes answers that ended in the window, also to requests from before it: with a steady load as many end as begin.
func (m *rungMeter) counts(ctx context.Context) error {
	text := fmt.Sprintf(`SELECT count(CASE WHEN arrival_us >= %[1]d AND arrival_us < %[2]d AND status NOT IN ('cancelled', 'client_error') THEN 1 END),
count(CASE WHEN arrival_us + end_us >= %[1]d AND arrival_us + end_us < %[2]d AND status IN ('ok', 'ok_length') THEN 1 END) FROM requests`, m.From, m.To)
	res, err := m.e.look(ctx, m.run, Scope{}, text)
	if err != nil {
		return err
	}
	m.Offered, m.Completed = int(deref(integer(res.Rows[0][0]))), int(deref(integer(res.Rows[0][1])))
	m.OfferedPS = ratioOf(float64(m.Offered), m.seconds())
	if m.Offered > 0 && float64(m.Completed) < minCompleted*float64(m.Offered) {
		m.Saturated, m.SaturatedBy = true, fmt.Sprintf("%d answers ended while %d requests were sent", m.Completed, m.Offered)
	}
	return nil
}

func (m *rungMeter) goodput(ctx context.Context) error {
	res, err := m.e.Query(ctx, m.run, "goodput", m.scope, nil)
	if err != nil || len(res.Rows) == 0 {
		return err
	}
	at, err := columnIndex(res, "good", "bad", "attainment", "attainment_low", "attainment_high", "goodput_per_s", "token_goodput_per_s")
	if err != nil {
		return err
	}
	cell := func(name string) *float64 { return number(res.Rows[0][at[name]]) }
	m.Judged = int(deref(cell("good")) + deref(cell("bad")))
	m.Attainment, m.Low, m.High = cell("attainment"), cell("attainment_low"), cell("attainment_high")
	m.GoodPS, m.GoodTokens = cell("goodput_per_s"), cell("token_goodput_per_s")
	return nil
}

func (m *rungMeter) latency(ctx context.Context) error {
	res, err := m.e.Query(ctx, m.run, "latency", m.scope, nil)
	if err != nil {
		return err
	}
	at, err := columnIndex(res, "metric", "p50", "p95", "p99")
	if err != nil {
		return err
	}
	for _, row := range res.Rows {
		switch row[at["metric"]] {
		case "ttft":
			m.TTFTP50, m.TTFTP95, m.TTFTP99 = number(row[at["p50"]]), number(row[at["p95"]]), number(row[at["p99"]])
		case "chunk_gap":
			m.GapP99 = number(row[at["p99"]])
		}
	}
	return nil
}

// trends looks at the whole run up to the end of the window, since what is under way at its start counts, and keeps the steps
// that lie within.
func (m *rungMeter) trends(ctx context.Context) error {
	width := max((m.To-m.From)/trendBins, 1)
	params := map[string]string{"bin_us": strconv.FormatInt(width, 10)}
	running, err := m.series(ctx, "concurrency_over_time", "mean", params)
	if err != nil {
		return err
	}
	params["metric"] = "ttft"
	first, err := m.series(ctx, "latency_over_time", "p50", params)
	if err != nil {
		return err
	}
	sent, err := m.series(ctx, "latency_over_time", "n_total", params)
	if err != nil {
		return err
	}
	sum := 0.0
	for _, v := range running {
		sum += v
	}
	m.Running = ratioOf(sum, float64(len(running)))
	rising := func(v []float64) bool { return len(v) >= minTrendBins && stats.Trend(v) > maxTrend }
	if !m.Saturated && rising(running) && rising(first) && !rising(sent) {
		m.Saturated, m.SaturatedBy = true, "requests at once and time to the first token rise from beginning to end"
	}
	return nil
}

// series is one column of a query over time, of the steps within the window.
func (m *rungMeter) series(ctx context.Context, query, column string, params map[string]string) (out []float64, err error) {
	res, err := m.e.Query(ctx, m.run, query, Scope{To: &m.To}, params)
	if err != nil {
		return nil, err
	}
	at, err := columnIndex(res, "start_us", column)
	if err != nil {
		return nil, err
	}
	width, _ := strconv.ParseInt(params["bin_us"], 10, 64)
	for _, row := range res.Rows {
		start, v := deref(integer(row[at["start_us"]])), number(row[at[column]])
		if v != nil && start >= m.From && start+width <= m.To {
			out = append(out, *v)
		}
	}
	return out, nil
}
