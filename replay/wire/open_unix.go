//go:build unix

package wire

import (
	"crypto/tls"
	"net"
	"syscall"
)

// open looks whether the other side has closed an unused connection. Bytes that wait are fine below TLS (session tickets);
// on a plain connection they can only be an error and a close.
func open(c net.Conn) bool {
	t, secure := c.(*tls.Conn)
	if secure {
		c = t.NetConn()
	}
	if own, ok := c.(*conn); ok {
		c = own.Conn
	}
	sys, ok := c.(syscall.Conn)
	if !ok {
		return true
	}
	raw, err := sys.SyscallConn()
	if err != nil {
		return false
	}
	alive := false
	err = raw.Read(func(fd uintptr) bool {
		var b [1]byte
		n, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		alive = err == syscall.EAGAIN || err == syscall.EINTR || n > 0 && secure
		return true
	})
	return err == nil && alive
}
