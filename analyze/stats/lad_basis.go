package stats

import (
	"math"
	"slices"
)

// independent returns the columns of x that no earlier ones determine, and as many rows that tell them apart, by
// elimination with the largest row as pivot. A column is determined when less than a billionth of it is left.
func independent(x [][]float64) (columns, rows []int) {
	m := make([][]float64, len(x))
	for i := range x {
		m[i] = slices.Clone(x[i])
	}
	for c := range x[0] {
		row, high, size := -1, 0.0, 0.0
		for i := range m {
			size = max(size, math.Abs(x[i][c]))
			if v := math.Abs(m[i][c]); v > high && !slices.Contains(rows, i) {
				row, high = i, v
			}
		}
		if high <= 1e-9*size {
			continue
		}
		columns, rows = append(columns, c), append(rows, row)
		for i := range m {
			if !slices.Contains(rows, i) {
				subtract(m[i], m[row], m[i][c]/m[row][c])
			}
		}
	}
	return columns, rows
}

// inverted is the inverse of a small regular matrix (Gauss-Jordan with row pivots); it uses up m.
func inverted(m [][]float64) [][]float64 {
	out := make([][]float64, len(m))
	for i := range m {
		out[i] = make([]float64, len(m))
		out[i][i] = 1
	}
	for c := range m {
		pivot := c
		for i := c; i < len(m); i++ {
			if math.Abs(m[i][c]) > math.Abs(m[pivot][c]) {
				pivot = i
			}
		}
		m[c], m[pivot] = m[pivot], m[c]
		out[c], out[pivot] = out[pivot], out[c]
		f := m[c][c]
		for j := range m {
			m[c][j] /= f
			out[c][j] /= f
		}
		for i := range m {
			if i != c {
				f := m[i][c]
				subtract(m[i], m[c], f)
				subtract(out[i], out[c], f)
			}
		}
	}
	return out
}

// subtract takes factor times the other row from row.
func subtract(row, other []float64, factor float64) {
	for j := range row {
		row[j] -= factor * other[j]
	}
}
