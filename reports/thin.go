package reports

import (
	"math"
	"slices"
)

// breakGaps puts a break where a regular series misses a step, so that no line is drawn over an hour without data. The
// step is the smallest distance of neighbours; series that do not stand on one grid are left alone.
func breakGaps(ss []Series) {
	step := gridStep(ss)
	if math.IsInf(step, 1) {
		return
	}
	for i, s := range ss {
		var out []Point
		for k, p := range s.Points {
			if k > 0 && p.X-s.Points[k-1].X > 1.5*step {
				out = append(out, Point{X: s.Points[k-1].X + step, Y: math.NaN()})
			}
			out = append(out, p)
		}
		ss[i].Points = out
	}
}

// gridStep is the common step of all series, or +Inf when there is none.
func gridStep(ss []Series) float64 {
	var diffs []float64
	for _, s := range ss {
		for k := 1; k < len(s.Points); k++ {
			if d := s.Points[k].X - s.Points[k-1].X; d > 0 {
				diffs = append(diffs, d)
			}
		}
	}
	if len(diffs) == 0 {
		return math.Inf(1)
	}
	step := slices.Min(diffs)
	for _, d := range diffs {
		if math.Abs(d/step-math.Round(d/step)) > 1e-6 {
			return math.Inf(1)
		}
	}
	return step
}

// thin keeps at most limit points: of each run of neighbours the lowest, the highest and, where there is one, a break;
// first and last always. Order stays.
func thin(ps []Point, limit int) []Point {
	if len(ps) <= limit || limit < 8 {
		return ps
	}
	buckets := (limit - 2) / 3
	inner := ps[1 : len(ps)-1]
	out := []Point{ps[0]}
	for b := range buckets {
		run := inner[b*len(inner)/buckets : (b+1)*len(inner)/buckets]
		out = append(out, extremes(run)...)
	}
	return append(out, ps[len(ps)-1])
}

// extremes returns the lowest and highest point of a run and its first break, in order.
func extremes(run []Point) []Point {
	lo, hi, gap := -1, -1, -1
	for i, p := range run {
		switch {
		case math.IsNaN(p.Y):
			if gap < 0 {
				gap = i
			}
			continue
		}
		if lo < 0 || p.Y < run[lo].Y {
			lo = i
		}
		if hi < 0 || p.Y > run[hi].Y {
			hi = i
		}
	}
	at := []int{lo, hi, gap}
	slices.Sort(at)
	var out []Point
	for _, i := range slices.Compact(at) {
		if i >= 0 {
			out = append(out, run[i])
		}
	}
	return out
}
