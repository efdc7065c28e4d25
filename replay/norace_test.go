//go:build !race

package replay

const (
	manyAtOnce = 2000
	tooMany    = 5000
)
