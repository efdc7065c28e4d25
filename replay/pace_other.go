//go:build !linux

package replay

func newPacer() pacer { return timerPacer{} }
