//go:build !unix

package wire

import "net"

// open cannot look without reading here.
func open(net.Conn) bool { return true }
