package analyze

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"reprise/analyze/stats"
)

const (
	controlShifts = 200
	hourUS        = int64(3600e6)
	minShiftUS    = int64(10e6)
)

// StallControls ask whether stalled gaps really follow the prefills, or would lie in windows anyhow (metrics.md 4.6).
// A figure that cannot be had is nil. Only when Holds is true may a report call the stalls prefill-induced.
type StallControls struct {
	Stalled    int      `json:"stalled"`          // gaps over 3 x the usual and 100 ms above it
	LostS      float64  `json:"lost_s"`           // of them lost to prefills
	PlaceboS   *float64 `json:"placebo_s"`        // mean of the same with the gaps moved around within their hour, 200 times
	Enrichment *float64 `json:"enrichment"`       // LostS / PlaceboS; 1.5 or more is needed
	P          *float64 `json:"p"`                // share of moves that explain as much; .01 or less is needed
	OthersS    *float64 `json:"other_replicas_s"` // the same with the windows of another replica; at most 1.2 x PlaceboS
	LaterS     float64  `json:"later_s"`          // the same with the windows 1 s later; at most .8 x LostS
	Dose       *float64 `json:"dose"`             // growth of the excess with a token, over its cost on an idle replica; .5 to 2
	Holds      bool     `json:"holds"`
	Failed     []string `json:"failed"` // names of the controls that do not hold or cannot be had
}

// stall is a stalled gap.
type stall struct {
	span
	replica           string
	excess, lost      int64   // microseconds
	tokens, costToken float64 // prefilled meanwhile, and what one costs on an idle replica (microseconds, 0 unknown)
}

// StallControls runs the controls on the stalled gaps of the scope. The moves are drawn from a fixed seed.
func (e *Engine) StallControls(ctx context.Context, r *Run, sc Scope) (StallControls, error) {
	c := StallControls{Failed: []string{}}
	p, err := e.Prefill(ctx, r)
	if err != nil {
		return c, err
	}
	stalls, blocks, err := e.stalls(ctx, reading{r, sc, p.text}, p.Fits)
	if err != nil {
		return c, fmt.Errorf("stall controls: %w", err)
	}
	c.Stalled = len(stalls)
	lost := int64(0)
	for _, s := range stalls {
		lost += s.lost
	}
	c.LostS = float64(lost) / 1e6
	c.placebo(stalls, blocks, lost)
	c.LaterS = float64(explained(stalls, func(s stall) (string, int64) { return s.replica, s.from - 1e6 }, blocks)) / 1e6
	c.rotate(stalls, blocks)
	c.dose(stalls)
	c.judge()
	return c, nil
}

// explained is the excess that lies in windows when each gap is put where place says.
func explained(stalls []stall, place func(stall) (replica string, from int64), blocks map[string]cover) int64 {
	sum := int64(0)
	for _, s := range stalls {
		replica, from := place(s)
		sum += min(s.excess, blocks[replica].within(from, from+s.to-s.from))
	}
	return sum
}

// placebo moves the gaps of each replica around within each hour, counted from its first window.
func (c *StallControls) placebo(stalls []stall, blocks map[string]cover, lost int64) {
	rng := rand.New(rand.NewPCG(4, 6))
	replicas := sortedKeys(blocks)
	sum, reached := 0.0, 0
	for range controlShifts {
		turns := map[string]float64{}
		for _, name := range replicas {
			turns[name] = rng.Float64()
		}
		moved := explained(stalls, func(s stall) (string, int64) { return s.replica, blocks[s.replica].move(s.from, turns[s.replica]) }, blocks)
		sum += float64(moved) / 1e6
		if moved >= lost {
			reached++
		}
	}
	if len(stalls) == 0 {
		return
	}
	mean, p := sum/controlShifts, placeboP(reached, controlShifts)
	c.PlaceboS, c.P = &mean, &p
	if mean > 0 {
		ratio := c.LostS / mean
		c.Enrichment = &ratio
	}
}

// placeboP is the chance to see as much by accident: the observed order counts as one of the moves.
func placeboP(reached, shifts int) float64 { return float64(1+reached) / float64(shifts+1) }

// rotate gives each replica the windows of the next.
func (c *StallControls) rotate(stalls []stall, blocks map[string]cover) {
	replicas := sortedKeys(blocks)
	if len(replicas) < 2 {
		return
	}
	s := float64(explained(stalls, func(s stall) (string, int64) {
		i, _ := slices.BinarySearch(replicas, s.replica)
		return replicas[(i+1)%len(replicas)], s.from
	}, blocks)) / 1e6
	c.OthersS = &s
}

// dose is the slope of excess on tokens prefilled meanwhile, in units of the cost of a token.
func (c *StallControls) dose(stalls []stall) {
	var x, y []float64
	for _, s := range stalls {
		if s.tokens > 0 && s.costToken > 0 {
			x, y = append(x, s.tokens*s.costToken), append(y, float64(s.excess))
		}
	}
	if len(x) < minLoaded {
		return
	}
	if slope, _ := stats.TheilSen(x, y); slope == slope {
		c.Dose = &slope
	}
}

func (c *StallControls) judge() {
	fail := func(name string, failed bool) {
		if failed {
			c.Failed = append(c.Failed, name)
		}
	}
	fail("placebo", c.P == nil || *c.P > .01 || c.PlaceboS != nil && c.LostS < 1.5**c.PlaceboS)
	fail("other replicas", c.OthersS != nil && c.PlaceboS != nil && *c.OthersS > 1.2**c.PlaceboS)
	fail("later", c.LaterS > .8*c.LostS)
	fail("dose", c.Dose == nil || *c.Dose < .5 || *c.Dose > 2)
	c.Holds = len(c.Failed) == 0
}

// stalls reads the stalled gaps of the scope and what the windows of each replica cover.
func (e *Engine) stalls(ctx context.Context, rd reading, fits []PrefillFit) ([]stall, map[string]cover, error) {
	costs := map[string]float64{}
	for _, f := range fits {
		costs[f.Model] = f.AloneUS
	}
	spans, cost := map[string][]span{}, map[string]float64{}
	err := e.readView(ctx, rd, "SELECT replica, model, start_us, end_us FROM stretched_windows", func(scan scanner) error {
		var replica, model string
		var s span
		err := scan(&replica, &model, &s.from, &s.to)
		spans[replica] = append(spans[replica], s)
		cost[replica] = costs[model]
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	blocks := map[string]cover{}
	for replica := range spans {
		blocks[replica] = newCover(spans[replica])
	}
	var out []stall
	text := "SELECT replica, start_us, end_us, excess_us, lost_us, overlap_tokens FROM stalled_gaps WHERE lost_us IS NOT NULL ORDER BY 1, 2, 3, 4, 5, 6"
	return out, blocks, e.readView(ctx, rd, text, func(scan scanner) error {
		var s stall
		err := scan(&s.replica, &s.from, &s.to, &s.excess, &s.lost, &s.tokens)
		s.costToken = cost[s.replica]
		out = append(out, s)
		return err
	})
}
