package decode

import "strings"

// arena makes small values that live on after the record they were read from, many to an allocation. What it has given
// is never moved or written again; it is freed when nothing of the same piece is in use.
type arena struct {
	text strings.Builder
	ints []int64
	yes  []bool
	size int // of the last piece of text
}

const maxPiece = 16 << 10

// string copies b.
func (a *arena) string(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if len(b) > a.text.Cap()-a.text.Len() {
		if len(b) > maxPiece/4 {
			return string(b)
		}
		a.size = max(min(2*a.size, maxPiece), len(b), 64)
		a.text.Reset()
		a.text.Grow(a.size)
	}
	a.text.Write(b)
	return a.text.String()[a.text.Len()-len(b):]
}

// int returns a pointer to a copy of n.
func (a *arena) int(n int64) *int64 { return &keep(&a.ints, n)[0] }

// bool returns a pointer to a copy of b.
func (a *arena) bool(b bool) *bool { return &keep(&a.yes, b)[0] }

// keep copies values into a piece.
func keep[T any](piece *[]T, values ...T) []T {
	n := len(*piece)
	if n+len(values) > cap(*piece) {
		n, *piece = 0, make([]T, 0, max(min(2*cap(*piece), maxPiece/8), len(values)))
	}
	*piece = append(*piece, values...)
	return (*piece)[n:len(*piece):len(*piece)]
}
