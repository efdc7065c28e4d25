//go:build race

package replay

// The race detector ends a program with more than 8,128 goroutines; a stream has six on both sides together.
const (
	manyAtOnce = 400
	tooMany    = 800
)
