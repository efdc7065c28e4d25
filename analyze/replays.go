package analyze

import (
	"context"
	"fmt"
	"strings"
)

// Replayed is what a replay that made a run says about itself.
type Replayed struct {
	Verdict    string       `json:"verdict"` // FAITHFUL, DEGRADED or INVALID
	Reasons    []string     `json:"reasons"`
	Incomplete string       `json:"incomplete,omitempty"` // why not everything was sent; "" when it was
	Client     *ClientCheck `json:"client"`               // what its client can do; nil when it was never measured
	Part       string       `json:"part,omitempty"`       // such as shard 0 of 4, when several clients shared the plan
	Gaps       []string     `json:"gaps,omitempty"`       // of a part: what makes all parts less, or more, than one replay; the same for all
	Apart      string       `json:"apart,omitempty"`      // of a part: how far the clients' clocks may have been apart; the same for all
}

// Replays returns what the replays that made a run say about themselves; none for a log.
func (e *Engine) Replays(ctx context.Context, r *Run) ([]Replayed, error) {
	if out, ok := e.replayed[r]; ok {
		return out, nil
	}
	list, err := e.replays(ctx, r)
	if err != nil {
		return nil, err
	}
	doubts, err := e.shardDoubts(ctx, r, list)
	if err != nil {
		return nil, err
	}
	out := []Replayed{}
	for _, p := range list {
		s := sideRows{replays: []replayed{p}}
		one := Replayed{Verdict: p.Fidelity.Verdict, Reasons: p.Fidelity.Reasons, Incomplete: p.Incomplete, Client: s.client(), Gaps: doubts.gaps, Apart: doubts.apart}
		if p.Shard != nil {
			one.Part = fmt.Sprintf("shard %d of %d", p.Shard.Index, p.Shard.Of)
		}
		out = append(out, one)
	}
	e.replayed[r] = out
	return out, nil
}

// doubts marks every answer about a run whose replay was invalid: its latencies are those of the client.
func (e *Engine) doubts(ctx context.Context, r *Run) ([]Warning, error) {
	list, err := e.Replays(ctx, r)
	var out []Warning
	if r.replay {
		out = append(out, Warning{"replay_unseen", "the table holds a replay, but not what the replay says of itself: whether it is INVALID can only be told from its folder"})
	}
	for i, p := range list {
		if i == 0 && len(p.Gaps) > 0 {
			out = append(out, Warning{"shards", "this run is not the whole replay that several clients were to make: " + strings.Join(p.Gaps, "; ")})
		}
		if p.Verdict == "INVALID" {
			out = append(out, Warning{"invalid_replay", fmt.Sprintf("the replay that made this run is INVALID, its latencies are those of the client: %s", strings.Join(p.Reasons, "; "))})
		}
	}
	return out, err
}
