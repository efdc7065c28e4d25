package stats

import "math"

// z975 is the 97.5 % point of the normal distribution.
const z975 = 1.959963984540054

// Wilson is the 95 % score interval of a share of good ones among n (Wilson 1927). Without data it is [0, 1].
func Wilson(good, n int) (lo, hi float64) {
	if n == 0 {
		return 0, 1
	}
	z2, nf := z975*z975, float64(n)
	share := float64(good) / nf
	mid := share + z2/(2*nf)
	half := z975 * math.Sqrt(share*(1-share)/nf+z2/(4*nf*nf))
	lo, hi = (mid-half)/(1+z2/nf), (mid+half)/(1+z2/nf)
	if good == 0 { // without the noise of the last bits
		lo = 0
	}
	if good == n {
		hi = 1
	}
	return lo, hi
}
