package replay

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// draw gives calls without an arrival one: a Poisson process of o.Rate a second, seeded, in the order of their files. A
// run that holds recorded arrivals, too, is refused: the two would not be on one time line.
func draw(calls []view, o PlanOptions) error {
	order := make([]*view, len(calls))
	for i := range calls {
		if calls[i].timed {
			return fmt.Errorf("rate: want a run without arrivals, got %q with one: its own times are better than drawn ones", calls[i].item.RequestID)
		}
		order[i] = &calls[i]
	}
	slices.SortFunc(order, func(a, b *view) int {
		return cmp.Or(strings.Compare(a.file, b.file), cmp.Compare(a.line, b.line), strings.Compare(a.item.RequestID, b.item.RequestID))
	})
	rng, at := rand.New(rand.NewPCG(o.Seed, 0)), 0.0
	for _, v := range order {
		at += rng.ExpFloat64() / o.Rate * 1e6
		v.item.Arrival = int64(math.Round(at))
	}
	return nil
}
