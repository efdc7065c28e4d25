package replay

import (
	"context"
	"time"

	"reprise/replay/wire"
)

// Waits between attempts when the target does not name one: doubled each time. A target that asks for more than the
// longest is not asked again: a replay would stand still (RPL-29).
const (
	firstBackOff   = 500 * time.Millisecond
	longestBackOff = 30 * time.Second
)

// one makes a call, and makes it again while that was asked for and may help. Each attempt is a result of its own, with times
// from its own due time.
func (r *run) one(ctx context.Context, p prepared, results chan<- result) {
	it := &r.plan.Items[p.index]
	call := ctx
	if r.opt.Cancel == CancelRecorded && it.CancelUS != nil {
		var hangUp context.CancelFunc
		call, hangUp = context.WithDeadline(ctx, p.due.Add(time.Duration(*it.CancelUS)*time.Microsecond))
		defer hangUp()
	}
	res := result{index: p.index, due: p.due, free: p.free}
	p.call.At = p.due
	for !res.final {
		res.attempt++
		if res.attempt > 1 {
			p.call.Header = r.header(it, res.attempt)
		}
		if r.opt.Cancel == CancelRecorded && it.TimeoutUS != nil {
			p.call.Limit = max(time.Until(res.due.Add(time.Duration(*it.TimeoutUS)*time.Microsecond)), time.Nanosecond)
		}
		res.out = r.client.Do(call, &p.call)
		ended := endOf(&res.out)
		wait, again := r.opt.backOff(&res.out, res.attempt)
		res.final = !again || !sleep(call, time.Until(ended.Add(wait)))
		res.over = ctx.Err() != nil
		if res.final {
			r.wake(ctx, &p, ended, &res.out)
		}
		results <- res
		res.due = ended.Add(wait)
	}
}

// endOf is when an answer had come, by its stamp: what this client took to notice is its own lag and moves no due time.
func endOf(out *wire.Outcome) time.Time {
	if out.End == nil {
		return time.Now()
	}
	return out.Sent.Add(*out.End)
}

// backOff says how long to wait before a call is tried again, and whether it is: only what may go better next time, and only
// where nothing of an answer had come.
func (o *Options) backOff(out *wire.Outcome, attempt int) (time.Duration, bool) {
	if attempt > o.Retries || len(out.Chunks) > 0 {
		return 0, false
	}
	switch out.Class {
	case wire.ClassRateLimited, wire.ClassUpstream, wire.ClassNetwork, wire.ClassTimeout:
	default:
		return 0, false
	}
	if out.RetryAfter > 0 {
		return out.RetryAfter, out.RetryAfter <= longestBackOff
	}
	return min(firstBackOff<<min(attempt-1, 10), longestBackOff), true
}
