package replay

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// Processes that draw arrivals.
const (
	ArrivalsPoisson  = "poisson"
	ArrivalsConstant = "constant"
	arrivalsGamma    = "gamma:" // and the coefficient of variation of the gaps: 1 is Poisson, above is burstier
)

// draw gives calls without an arrival one: o.Rate a second, seeded, in the order of their files. A run that holds recorded
// arrivals, too, is refused: the two would not be on one time line.
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
	gap, sum := o.gaps(rand.New(rand.NewPCG(o.Seed, 0))), 0.0
	for _, v := range order {
		sum += gap()
		v.item.Arrival = int64(math.Round(o.instant(sum) * 1e6))
	}
	return nil
}

// gaps returns a generator of gaps with mean 1.
func (o *PlanOptions) gaps(rng *rand.Rand) func() float64 {
	cv, isGamma := o.gammaCV()
	switch {
	case o.Arrivals == ArrivalsConstant:
		return func() float64 { return 1 }
	case isGamma:
		shape := 1 / (cv * cv)
		return func() float64 { return gamma(rng, shape) / shape }
	}
	return rng.ExpFloat64
}

// instant is the time in seconds by which n calls are expected: the inverse of the integral of the rate, which grows in a
// straight line over the ramp.
func (o *PlanOptions) instant(n float64) float64 {
	ramp := o.Ramp.Seconds()
	if inRamp := o.Rate * ramp / 2; n < inRamp {
		return math.Sqrt(2 * n * ramp / o.Rate)
	}
	return ramp/2 + n/o.Rate
}

// gamma draws from a gamma distribution of scale 1 (Marsaglia and Tsang, ACM TOMS 26, 2000; a shape below 1 by their boost).
func gamma(rng *rand.Rand, shape float64) float64 {
	if shape < 1 {
		return gamma(rng, shape+1) * math.Pow(1-rng.Float64(), 1/shape)
	}
	d := shape - 1.0/3
	for {
		x := rng.NormFloat64()
		v := 1 + x/math.Sqrt(9*d)
		if v <= 0 {
			continue
		}
		v = v * v * v
		if math.Log(1-rng.Float64()) < x*x/2+d-d*v+d*math.Log(v) {
			return d * v
		}
	}
}

// gammaCV is the coefficient of variation asked for, false when the process is another.
func (o *PlanOptions) gammaCV() (float64, bool) {
	text, ok := strings.CutPrefix(o.Arrivals, arrivalsGamma)
	cv, err := strconv.ParseFloat(text, 64)
	return cv, ok && err == nil && cv > 0 && cv <= maxCV
}

// maxCV bounds the variation: beyond it nearly all calls come at once.
const maxCV = 20

func (o *PlanOptions) checkDraw() error {
	_, isGamma := o.gammaCV()
	switch {
	case o.Rate == 0 && (o.Arrivals != "" || o.Ramp != 0):
		return fmt.Errorf("arrivals and ramp: want a rate to draw with, got none")
	case o.Ramp < 0:
		return fmt.Errorf("ramp: want 0 or more, got %v", o.Ramp)
	case o.Rate > 0 && o.Arrivals == "":
		o.Arrivals = ArrivalsPoisson
	case o.Arrivals != "" && o.Arrivals != ArrivalsPoisson && o.Arrivals != ArrivalsConstant && !isGamma:
		return fmt.Errorf("arrivals: want poisson, constant or gamma:CV with a variation above 0 and up to %d, got %q", maxCV, o.Arrivals)
	}
	return nil
}
