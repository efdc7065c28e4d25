//go:build !linux

package wire

import (
	"errors"
	"io"
	"net"
	"time"
)

// kernelReader: no kernel stamps here; the clock is read after each read and the outcome says so.
func kernelReader(net.Conn) func([]byte) (int, time.Time, error) { return nil }

func keepStamping() (io.Closer, error) { return nil, errors.ErrUnsupported }
