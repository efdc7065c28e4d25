package analyze

import (
	"context"
	"fmt"
	"strconv"
)

// explain names what was different inside the window.
func (e *Engine) explain(ctx context.Context, r *Run, sc Scope, in *Incident) (err error) {
	in.Diff, err = e.Query(ctx, r, "incident_diff", sc, map[string]string{
		"window_from_us": strconv.FormatInt(in.From, 10), "window_to_us": strconv.FormatInt(in.To, 10)})
	if err != nil {
		return fmt.Errorf("explaining incident: %w", err)
	}
	in.judge(diffRows(in.Diff))
	if err := e.retries(ctx, r, sc, in); err != nil {
		return err
	}
	hits, err := e.hits(ctx, r, sc, in)
	if err != nil {
		return err
	}
	in.blame(hits)
	return nil
}

// load is one row of incident_diff.
type load struct {
	dimension, name                      string
	rateBase, rate, prefillBase, prefill float64
	meanBase, mean, cachedBase, cached   float64
	share                                float64
	untold                               bool // prefill is not known
}

func diffRows(r *Result) []load {
	var rows []load
	for _, row := range r.Rows {
		f := func(i int) float64 { v, _ := row[i].(float64); return v }
		rows = append(rows, load{row[0].(string), row[1].(string), f(4), f(5), f(6), f(7), f(8), f(9), f(10), f(11), f(12), row[7] == nil})
	}
	return rows
}

// A load has grown when it is more than half again what it was; one value is behind it when it holds half the growth.
const (
	grown      = 1.5
	mostGrowth = 0.5
)

// judge settles cause, tenant and sentence from the rows of incident_diff.
func (in *Incident) judge(rows []load) {
	var all, tenant load
	for _, l := range rows {
		switch {
		case l.dimension == "all":
			all = l
		case l.dimension == "tenant" && l.share > tenant.share:
			tenant = l
		}
	}
	who := ""
	if tenant.share >= mostGrowth && tenant.prefill > grown*tenant.prefillBase {
		in.Tenant = tenant.name
		who = fmt.Sprintf(" of tenant %s (%.0f %% of the extra load)", tenant.name, 100*tenant.share)
	} else {
		tenant = all
	}
	tokens := fmt.Sprintf("%.0f instead of %.0f uncached prompt tokens/s", all.prefill, all.prefillBase)
	switch {
	case 2*in.Failed > in.Bad:
		in.Cause, in.Text = "failures", fmt.Sprintf("%d of %d bad requests failed with an error or a timeout", in.Failed, in.Bad)
	case all.untold:
		in.Cause, in.Text = "unexplained", "the log does not tell the load: no request of the window has input tokens"
	case all.prefill <= grown*all.prefillBase:
		in.Cause, in.Text = "unexplained", "the load was not larger than outside ("+tokens+"): look at the engine, the host, the network"
	case tenant.mean > grown*tenant.meanBase && all.cached < all.cachedBase-.2 && tenant.rate <= grown*tenant.rateBase && who == "":
		in.Cause, in.Text = "cache_loss", fmt.Sprintf("the prompt cache served %.0f %% of input tokens instead of %.0f %%: %s", 100*all.cached, 100*all.cachedBase, tokens)
	case tenant.mean > grown*tenant.meanBase:
		in.Cause = "long_prompts"
		in.Text = fmt.Sprintf("long prompts%s: %.0f uncached tokens a request instead of %.0f; in all %s", who, tenant.mean, tenant.meanBase, tokens)
	default:
		in.Cause = "more_requests"
		in.Text = fmt.Sprintf("more requests%s: %.2f/s instead of %.2f/s; in all %s", who, tenant.rate, tenant.rateBase, tokens)
	}
}

// A retry storm: there are half again as many attempts as calls, and the share of retries is twice that outside.
const stormShare = 1.0 / 3

// retries names a storm of them as the cause. It is looked at before all others, since it makes failures and load of its own.
func (e *Engine) retries(ctx context.Context, r *Run, sc Scope, in *Incident) error {
	inside := sc
	inside.From, inside.To = &in.From, &in.To
	n, retried, failed, err := e.attempts(ctx, r, inside)
	if err != nil || n == 0 || retried < stormShare*n {
		return err
	}
	all, allRetried, _, err := e.attempts(ctx, r, sc)
	if err != nil {
		return err
	}
	usual := 0.0
	if all > n {
		usual = (allRetried - retried) / (all - n)
	}
	if retried/n >= 2*usual {
		in.Cause, in.Tenant = "retry_storm", ""
		in.Text = fmt.Sprintf("retries: %.2f attempts a call instead of %.2f, %.0f %% of them failed", n/max(n-retried, 1), 1/(1-usual), 100*failed/n)
	}
	return nil
}

// attempts counts those of a scope, how many of them were not the first of their call, and how many failed.
func (e *Engine) attempts(ctx context.Context, r *Run, sc Scope) (n, retried, failed float64, err error) {
	res, err := e.look(ctx, r, sc, "SELECT count(*) AS n, count(CASE WHEN attempt > 1 THEN 1 END) AS retried, count(CASE WHEN status = 'failed' THEN 1 END) AS failed FROM requests WHERE generation")
	if err != nil {
		return 0, 0, 0, err
	}
	row := res.Rows[0]
	return *number(row[0]), *number(row[1]), *number(row[2]), nil
}

// onset looks for the time from which the load behind the incident grew: requests miss the objective only once a queue
// has built up. One-sided CUSUM of prefill tokens a bin, scaled by what the bins outside the window do (metrics.md 2.5).
