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
	out := []Replayed{}
	for _, p := range list {
		s := sideRows{replays: []replayed{p}}
		out = append(out, Replayed{p.Fidelity.Verdict, p.Fidelity.Reasons, p.Incomplete, s.client()})
	}
	e.replayed[r] = out
	return out, nil
}

// doubts marks every answer about a run whose replay was invalid: its latencies are those of the client.
func (e *Engine) doubts(ctx context.Context, r *Run) ([]Warning, error) {
	list, err := e.Replays(ctx, r)
	var out []Warning
	for _, p := range list {
		if p.Verdict == "INVALID" {
			out = append(out, Warning{"invalid_replay", fmt.Sprintf("the replay that made this run is INVALID, its latencies are those of the client: %s", strings.Join(p.Reasons, "; "))})
		}
	}
	return out, err
}
