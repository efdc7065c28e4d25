package replay

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"reprise/ingest/trace"
)

// Probes are requests beside the recorded traffic that measure what a long prompt does to the streams of others. Each slot
// of time has one, at a random moment; a random half of them are long, the others, with a short prompt, are their control. Nothing but
// chance decides which is which, so a difference behind them is caused by the prompt (metrics.md 4.6).
type Probes struct {
	Tokens int64         `json:"tokens"`   // of a long prompt
	Every  time.Duration `json:"every_ns"` // a slot; its second half has no probe, so that a long one's work is done before the next
	Seed   uint64        `json:"seed"`
}

// Kinds of probes, and the quality flags of their rows.
const (
	ProbeLong    = trace.QProbe
	ProbeControl = trace.QProbeControl
)

// controlTokens is the prompt of a control: as good as nothing to read.
const controlTokens = 16

// minProbes are two of each kind: fewer have no spread.
const minProbes = 4

// AddProbes puts probes into the plan, over the time of its recorded requests and as if these had sent them: to the model and
// endpoint of the request before. An error when the plan is too short for four slots.
func (p *Plan) AddProbes(o Probes) error {
	slots := int(p.Summary.DurationUS / max(o.Every.Microseconds(), 1))
	switch {
	case o.Tokens <= controlTokens || o.Every <= 0:
		return fmt.Errorf("probes: want more than %d tokens and a time between them, got %d and %v", controlTokens, o.Tokens, o.Every)
	case slots < minProbes:
		return fmt.Errorf("probes: want at least %d slots in the plan of %v, got %d of %v", minProbes, time.Duration(p.Summary.DurationUS)*time.Microsecond, slots, o.Every)
	}
	rng := rand.New(rand.NewPCG(o.Seed, 0))
	kinds := make([]string, slots)
	for i := range kinds {
		kinds[i] = []string{ProbeLong, ProbeControl}[i%2]
	}
	rng.Shuffle(slots, func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
	half, recorded := o.Every.Microseconds()/2, p.Items
	for i, kind := range kinds {
		due := int64(i)*2*half + rng.Int64N(half+1)
		it := probe(kind, due, before(recorded, due), o)
		it.RequestID = fmt.Sprintf("reprise-%s-%d-%04d", kind, o.Seed, i)
		it.RootID = it.RequestID
		p.Items = append(p.Items, it)
	}
	slices.SortStableFunc(p.Items, func(a, b Item) int { return cmp.Compare(a.DueUS, b.DueUS) })
	long := (slots + 1) / 2
	p.Summary.Notices = append(p.Summary.Notices, Notice{"probes", fmt.Sprintf("%d probes of %d tokens and %d controls are sent beside the recorded requests: they count in no figure but probe_effect, yet what they do to other requests does", long, o.Tokens, slots-long)})
	return nil
}

// before is the last request that generates text and is due by then, else the first.
func before(items []Item, due int64) *Item {
	i, _ := slices.BinarySearchFunc(items, due+1, func(it Item, at int64) int { return cmp.Compare(it.DueUS, at) })
	for i--; i > 0 && items[i].Endpoint == "embeddings"; i-- {
	}
	return &items[max(i, 0)]
}

func probe(kind string, due int64, like *Item, o Probes) Item {
	it := Item{Probe: kind, DueUS: due, Arrival: like.Arrival, Endpoint: like.Endpoint, Stream: true, Model: like.Model, InputTokens: controlTokens, OutputTokens: 1, MaxTokens: trace.Ptr(int64(1))}
	if kind == ProbeLong {
		it.InputTokens = o.Tokens
	}
	if it.Endpoint == "embeddings" {
		it.Endpoint = "chat"
	}
	return it
}
