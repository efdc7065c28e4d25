//go:build !linux

package replay

import "time"

func newPacer() pacer { return timerPacer{} }

func rest(d time.Duration) { time.Sleep(d) }
