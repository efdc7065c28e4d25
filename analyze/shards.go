package analyze

import (
	"context"
	"fmt"
	"math"
	"strings"
)

// shard is what a replay says that sent a part of a plan beside other clients (replay.Sharded).
type shard struct {
	Index    int
	Of       int
	Plan     string
	Requests int   `json:"requests_of_plan"`
	StartUS  int64 `json:"start_at_us"`
	Clock    clock
	ClockEnd clock `json:"clock_end"`
	StepUS   int64 `json:"wall_step_us"`
	planned  int
}

// clock is how far a client's clock was from a reference, microseconds; nil unknown.
type clock struct {
	Source   string
	OffsetUS *float64 `json:"offset_us"`
	ErrorUS  *float64 `json:"error_us"`
}

// maxClockApart is how far the clocks of two clients may differ: the bound on send lag (metrics.md part 6), for a client whose
// clock is late sends late.
const maxClockApart = 5e3

// shards are the replays of a run that sent parts of a plan.
func shards(list []replayed) (out []shard) {
	for _, r := range list {
		if r.Shard != nil {
			r.Shard.planned = r.Planned
			out = append(out, *r.Shard)
		}
	}
	return out
}

// shardGaps says what makes parts less, or more, than the one replay they should be.
func shardGaps(list []replayed) (out []string) {
	all := shards(list)
	if len(all) == 0 {
		return nil
	}
	first, seen, planned := all[0], map[int]int{}, 0
	for _, s := range all {
		if len(all) < len(list) || s.Plan != first.Plan || s.Of != first.Of || s.StartUS != first.StartUS {
			return []string{"its parts are not of one replay: they differ in plan, number of clients or start"}
		}
		if seen[s.Index]++; seen[s.Index] == 1 {
			planned += s.planned
		}
	}
	var lost, twice []string
	for i := range first.Of {
		switch {
		case seen[i] == 0:
			lost = append(lost, fmt.Sprint(i))
		case seen[i] > 1:
			twice = append(twice, fmt.Sprint(i))
		}
	}
	if len(lost) > 0 {
		out = append(out, fmt.Sprintf("shards %s of %d are missing: %d of the plan's %d requests", strings.Join(lost, ", "), first.Of, first.Requests-planned, first.Requests))
	}
	if len(twice) > 0 {
		out = append(out, fmt.Sprintf("shards %s of %d were sent twice, so the target had more load than planned", strings.Join(twice, ", "), first.Of))
	}
	return out
}

// clocksApart says how far the clocks of the clients may have been apart; "" when they are known to have been within maxClockApart.
func clocksApart(all []shard) string {
	if len(all) < 2 {
		return ""
	}
	var worst, sure float64
	for _, at := range []func(shard) clock{func(s shard) clock { return s.Clock }, func(s shard) clock { return s.ClockEnd }} {
		for i, s := range all {
			c := at(s)
			if c.OffsetUS == nil || c.ErrorUS == nil {
				return fmt.Sprintf("how far the clocks of its %d clients were apart is unknown (shard %d knows nothing of its own; --clock-server asks): they may not have sent as one", len(all), s.Index)
			}
			if c.Source != at(all[0]).Source {
				return fmt.Sprintf("how far the clocks of its %d clients were apart is unknown: they were held against %s and %s", len(all), at(all[0]).Source, c.Source)
			}
			for _, other := range all[:i] {
				o := at(other)
				apart := math.Abs(*c.OffsetUS - *o.OffsetUS)
				worst, sure = max(worst, apart), max(sure, apart+*c.ErrorUS+*o.ErrorUS)
			}
		}
	}
	for _, s := range all {
		worst, sure = max(worst, abs(s.StepUS)), max(sure, abs(s.StepUS))
	}
	switch {
	case worst > maxClockApart:
		return fmt.Sprintf("the clocks of its %d clients were %.1f ms apart: they did not send as one", len(all), worst/1e3)
	case sure > maxClockApart:
		return fmt.Sprintf("the clocks of its %d clients were %.1f ms apart, known only to within %.1f ms", len(all), worst/1e3, sure/1e3)
	}
	return ""
}

func abs(us int64) float64 { return float64(max(us, -us)) }

// shardDoubts is what a reader of a run must know that several clients made.
type shardDoubts struct {
	gaps  []string // what makes it less, or more, than the replay it should be
	apart string   // how far the clocks of the clients may have been apart; "" when it does not matter
}

func (e *Engine) shardDoubts(ctx context.Context, r *Run, list []replayed) (d shardDoubts, err error) {
	all := shards(list)
	if len(all) == 0 {
		return d, nil
	}
	d = shardDoubts{shardGaps(list), clocksApart(all)}
	var doubled int64
	row := e.conn.QueryRowContext(ctx, "SELECT count(*) FROM (SELECT request_id, attempt FROM "+r.scan()+" GROUP BY request_id, attempt HAVING count(*) > 1)")
	if err := row.Scan(&doubled); err != nil {
		return d, fmt.Errorf("look for doubled requests in %q: %w", r.Path, err)
	}
	if doubled > 0 {
		d.gaps = append(d.gaps, fmt.Sprintf("%d requests are in it more than once", doubled))
	}
	return d, nil
}
