//go:build !unix

package replay

import "time"

func cpuTime() (time.Duration, bool) { return 0, false }

func descriptorLimit() int { return fallbackLimit }
