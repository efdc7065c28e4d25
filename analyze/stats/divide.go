package stats

import (
	"math/rand/v2"
	"slices"
)

// ChangePoint is where a series changed its distribution: value At is the first of the new one. P is of the permutation test.
type ChangePoint struct {
	At int
	P  float64
}

// permutations of [Divide]: the smallest p is .005 (metrics.md 2.5).
const permutations = 199

// Divide finds all change points of a series (E-divisive, Matteson and James 2014; metrics.md 2.5): it splits where the energy
// statistic is largest, keeps the split when at most alpha of 199 seeded permutations reach it, and goes on in both parts. Each part keeps
// at least minPart values. Points are in order. Time: 200 n squared a split.
func Divide(x []float64, minPart int, alpha float64) []ChangePoint {
	split, q := EnergySplit(x, minPart)
	if split == 0 {
		return nil
	}
	r := rand.New(rand.NewPCG(1, uint64(len(x))))
	shuffled, reached := slices.Clone(x), 0
	for range permutations {
		r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if _, other := EnergySplit(shuffled, minPart); other >= q {
			reached++
		}
	}
	p := float64(1+reached) / (1 + permutations)
	if p > alpha {
		return nil
	}
	points := append(Divide(x[:split], minPart, alpha), ChangePoint{split, p})
	for _, c := range Divide(x[split:], minPart, alpha) {
		points = append(points, ChangePoint{split + c.At, c.P})
	}
	return points
}
