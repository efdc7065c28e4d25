//go:build !linux

package replay

func kernelClock() Clock {
	return Clock{Source: "none", Why: "this system does not say how right its clock is"}
}
