package replay

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"io"
	"time"
)

// Part is what one of several clients has of a plan. They know nothing of each other: each cuts its part out of the same
// plan, and starts at the same instant.
type Part struct {
	Index       int      `json:"index"` // from 0
	Of          int      `json:"of"`
	Plan        string   `json:"plan"`                  // names the whole plan: what is sent, and when
	Requests    int      `json:"requests_of_plan"`      // of the whole
	PrefixShare *float64 `json:"prefix_share_all_sent"` // of this part's input tokens, ideal hits when all parts are sent; nil when no prompt shape is known
}

// Sharded is a part with what its client knew of the time. Its clock is asked before the first send and after the last.
type Sharded struct {
	Part
	StartUS    int64 `json:"start_at_us"` // the agreed start, microseconds since 1970; 0 when none was set
	Clock      Clock `json:"clock"`
	ClockEnd   Clock `json:"clock_end"`
	WallStepUS int64 `json:"wall_step_us"` // by how much the wall clock moved against the monotonic one in between
}

// Shard cuts out the part of client i of n, counted from 0: whole sessions, by their hash. Due times, lengths and shapes of
// prompts stay those of the whole plan; ideal hits become those of the part alone, for that is what its own prompts can
// be checked against. An error when some part would be empty: every client says so, and nothing is sent.
func (p *Plan) Shard(i, n int) (*Plan, error) {
	if n < 1 || i < 0 || i >= n {
		return nil, fmt.Errorf("shard: want i/n with i from 0 to n-1, got %d/%d", i, n)
	}
	q := &Plan{Options: p.Options, Summary: Summary{LeftOut: p.Summary.LeftOut}, Part: &Part{Index: i, Of: n, Plan: p.name(), Requests: len(p.Items)}}
	filled, used := make([]bool, n), 0
	hits, tokens := int64(0), int64(0)
	for k := range p.Items {
		it := p.Items[k]
		s := it.shard(n)
		used += count(!filled[s])
		filled[s] = true
		if s == i {
			q.Items = append(q.Items, it)
			hits, tokens = hits+it.IdealHit, tokens+it.InputTokens
		}
	}
	if used < n {
		return nil, fmt.Errorf("shard: %d of %d clients would have nothing to send, the plan has %d sessions: use fewer", n-used, n, p.Summary.Sessions)
	}
	cache := newIdealCache()
	for k := range q.Items {
		q.Items[k].IdealHit = cache.hit(&q.Items[k])
	}
	q.summarise(&found{})
	q.Summary.DurationUS, q.Summary.CutUS, q.Summary.ToolsLost, q.Summary.Notices = p.Summary.DurationUS, p.Summary.CutUS, p.Summary.ToolsLost, p.Summary.Notices
	if p.Summary.PrefixShare != nil {
		q.Part.PrefixShare = share(hits, tokens)
	}
	return q, nil
}

// shard is which of n clients sends the item.
func (it *Item) shard(n int) int {
	session := "request " + it.RootID
	if it.SessionID != "" {
		session = "session " + it.SessionID
	}
	h := sha256.Sum256([]byte("shard of " + session))
	return int(binary.LittleEndian.Uint64(h[:8]) % uint64(n))
}

// name is equal for plans that send the same at the same times.
func (p *Plan) name() string {
	h := sha256.New()
	fmt.Fprintln(h, p.Options.Lengths, p.Options.Endpoint)
	for i := range p.Items {
		it := &p.Items[i]
		sized(h, it.RequestID)
		sized(h, it.SessionID)
		binary.Write(h, binary.LittleEndian, []int64{it.DueUS, it.InputTokens, it.OutputTokens})
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8])
}

func sized(h hash.Hash, s string) {
	binary.Write(h, binary.LittleEndian, int64(len(s)))
	io.WriteString(h, s)
}

// anchorAhead is how long before a set start the wall clock is turned into an instant that steps and slewing of the wall
// clock no longer move.
const anchorAhead = 200 * time.Millisecond

// anchor is the instant from which due times count: now, or the set start.
func (o *Options) anchor(ctx context.Context) (time.Time, error) {
	if o.StartAt.IsZero() {
		return time.Now().Add(headStart), nil
	}
	at := o.StartAt.Round(0) // by the wall clock
	if late := headStart - time.Until(at); late > 0 {
		return time.Time{}, fmt.Errorf("start at %s: that was %v ago when this client was ready; nothing was sent: set a later time", at.UTC().Format(time.RFC3339Nano), late.Round(time.Millisecond))
	}
	for wait := time.Until(at); wait > anchorAhead && ctx.Err() == nil; wait = time.Until(at) {
		sleep(ctx, min(wait-anchorAhead/2, time.Second))
	}
	now := time.Now()
	return now.Add(at.Sub(now.Round(0))), nil
}

// sharded is asked for before and after a replay of a part; nil for a whole plan.
func (o *Options) sharded(p *Plan) *Sharded {
	if p.Part == nil {
		return nil
	}
	s := &Sharded{Part: *p.Part, Clock: ReadClock(o.ClockServer)}
	if !o.StartAt.IsZero() {
		s.StartUS = o.StartAt.UnixMicro()
	}
	return s
}

// end asks the clock again. start has both readings, of the wall and of the monotonic clock.
func (s *Sharded) end(o *Options, start time.Time) *Sharded {
	if s != nil {
		now := time.Now()
		s.WallStepUS = (now.Round(0).Sub(start.Round(0)) - now.Sub(start)).Microseconds()
		s.ClockEnd = ReadClock(o.ClockServer)
	}
	return s
}

// notices tell how far the clock can be believed.
func (s *Sharded) notices() []Notice {
	if s == nil {
		return nil
	}
	list := []Notice{{"shard", fmt.Sprintf("this is shard %d of %d (from 0) of a plan of %d requests", s.Index, s.Of, s.Requests)}}
	for _, c := range []Clock{s.Clock, s.ClockEnd} {
		if c.OffsetUS == nil {
			return append(list, Notice{"clock_unknown", fmt.Sprintf("how far this clock is off is unknown (%s: %s): --clock-server NAME asks an NTP server", c.Source, c.Why)})
		}
	}
	return append(list, Notice{"clock", fmt.Sprintf("this clock is %+.3f ms off %s, right to %.3f ms; at the end %+.3f ms", *s.Clock.OffsetUS/1e3, s.Clock.Source, *s.Clock.ErrorUS/1e3, *s.ClockEnd.OffsetUS/1e3)})
}
