package stats

import (
	"cmp"
	"math"
	"slices"
)

// LAD fits y = x·coef by weighted least absolute deviations: it minimises the sum of w |y - x·coef|, so a few wild y do
// not bend it (a wild row that lies far out in x does: for one regressor TheilSen is safer). Each row of x is one
// observation (put a 1 first for an intercept); w nil weighs all alike. A column that the ones before it determine gets
// 0. Nil when there are no rows.
//
// An optimum passes exactly through as many observations as there are columns. The fit walks from one such choice to the
// next along the edge that falls most steeply, each step a weighted median (Bloomfield and Steiger 1980).
func LAD(x [][]float64, y, w []float64) []float64 {
	if len(x) == 0 {
		return nil
	}
	p := newPlane(x, y, w)
	for range 50 * (len(x[0]) + 1) {
		if !p.step() {
			break
		}
	}
	return p.coefficients(y)
}

// plane is the state of a fit: which observations it passes through, and the residuals of all.
type plane struct {
	x       [][]float64
	y, w    []float64 // y a hair off, so that no two edges tie
	columns []int     // independent columns
	basis   []int     // as many rows
	inverse [][]float64
	coef    []float64 // of the independent columns
	rest    []float64 // residuals
}

func newPlane(x [][]float64, y, w []float64) *plane {
	p := &plane{x: x, y: make([]float64, len(y)), w: w, rest: make([]float64, len(y))}
	scale := 0.0
	for _, v := range y {
		scale = max(scale, math.Abs(v))
	}
	for i, v := range y {
		// Weyl sequence: the same on every machine, equal for no two rows
		_, hair := math.Modf(float64(i+1) * math.Phi)
		p.y[i] = v + scale*1e-12*hair
	}
	if w == nil {
		p.w = slices.Repeat([]float64{1}, len(y))
	}
	p.columns, p.basis = independent(x)
	p.solve()
	return p
}

// solve finds the coefficients through the basis, and every residual.
func (p *plane) solve() {
	p.inverse = inverted(p.square())
	p.coef = make([]float64, len(p.columns))
	for j := range p.coef {
		for k, row := range p.basis {
			p.coef[j] += p.inverse[j][k] * p.y[row]
		}
	}
	for i := range p.x {
		p.rest[i] = p.y[i]
		for j, c := range p.columns {
			p.rest[i] -= p.coef[j] * p.x[i][c]
		}
	}
	for _, row := range p.basis {
		p.rest[row] = 0
	}
}

func (p *plane) square() [][]float64 {
	m := make([][]float64, len(p.basis))
	for k, row := range p.basis {
		for _, c := range p.columns {
			m[k] = append(m[k], p.x[row][c])
		}
	}
	return m
}

// step lets go of one observation of the basis, if the sum then falls, and takes the one where it stops falling.
func (p *plane) step() bool {
	best, leave := 1e-12*p.weight(), -1
	for k := range p.basis {
		if fall := p.fall(k); fall > best {
			best, leave = fall, k
		}
	}
	if leave < 0 {
		return false
	}
	enter := p.search(leave)
	if enter == p.basis[leave] {
		return false
	}
	p.basis[leave] = enter
	p.solve()
	return true
}

func (p *plane) weight() float64 {
	sum := 0.0
	for _, w := range p.w {
		sum += w
	}
	return sum
}

// along is how fast the fit at row i rises when the fit at basis row k does and those at the others stay.
func (p *plane) along(i, k int) float64 {
	z := 0.0
	for j, c := range p.columns {
		z += p.x[i][c] * p.inverse[j][k]
	}
	return z
}

// fall is how fast the sum falls when the fit leaves basis row k, upwards or downwards, whichever is better.
func (p *plane) fall(k int) float64 {
	slope, loss := 0.0, p.w[p.basis[k]]
	for i, r := range p.rest {
		z := p.along(i, k)
		switch {
		case slices.Contains(p.basis, i):
		case r > 0:
			slope += p.w[i] * z
		case r < 0:
			slope -= p.w[i] * z
		default:
			loss += p.w[i] * math.Abs(z)
		}
	}
	return math.Abs(slope) - loss
}

// search goes along the edge to where the sum is smallest: the weighted median of rest/along over the rows.
func (p *plane) search(k int) int {
	type stop struct {
		at, weight float64
		row        int
	}
	stops := []stop{{0, p.w[p.basis[k]], p.basis[k]}}
	total := stops[0].weight
	for i, r := range p.rest {
		z := p.along(i, k)
		if math.Abs(z) < 1e-12 || slices.Contains(p.basis, i) {
			continue
		}
		s := stop{r / z, p.w[i] * math.Abs(z), i}
		stops, total = append(stops, s), total+s.weight
	}
	slices.SortFunc(stops, func(a, b stop) int { return cmp.Or(cmp.Compare(a.at, b.at), a.row-b.row) })
	sum := 0.0
	for _, s := range stops {
		if sum += s.weight; sum >= total/2 {
			return s.row
		}
	}
	return p.basis[k]
}

// coefficients are those through the basis at the true y, and 0 for columns that others determine.
func (p *plane) coefficients(y []float64) []float64 {
	p.y = y
	p.solve()
	out := make([]float64, len(p.x[0]))
	for j, c := range p.columns {
		out[c] = p.coef[j]
	}
	return out
}
