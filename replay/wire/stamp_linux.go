package wire

import (
	"encoding/binary"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// receiver reads from a socket with recvmsg, which brings the kernel's arrival time (SO_TIMESTAMPNS) of the last
// packet along. The transport never reads from two goroutines at once, so the fields carry arguments to and results from the
// callback without an allocation a read.
type receiver struct {
	raw  syscall.RawConn
	call func(fd uintptr) bool
	p    []byte
	oob  [64]byte
	n    int
	noob int
	err  error
}

// kernelReader returns nil when c cannot be read with stamps.
func kernelReader(c net.Conn) func([]byte) (int, time.Time, error) {
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return nil
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return nil
	}
	enable := func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1) }
	if raw.Control(enable) != nil || err != nil {
		return nil
	}
	r := &receiver{raw: raw}
	r.call = r.receive
	return r.read
}

// keepStamping holds a socket that wants stamps. The kernel stamps packets only while some socket does and takes some
// milliseconds to begin, so without it the first answers would go without.
func keepStamping() (io.Closer, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "stamps")
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (r *receiver) receive(fd uintptr) bool {
	for {
		r.n, r.noob, _, _, r.err = unix.Recvmsg(int(fd), r.p, r.oob[:], 0)
		if r.err != unix.EINTR {
			return r.err != unix.EAGAIN
		}
	}
}

func (r *receiver) read(p []byte) (int, time.Time, error) {
	if len(p) == 0 {
		return 0, time.Time{}, nil
	}
	r.p = p
	err := r.raw.Read(r.call)
	r.p = nil
	switch {
	case err != nil:
		return 0, time.Time{}, err
	case r.err != nil:
		return 0, time.Time{}, &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("recvmsg", r.err)}
	case r.n == 0:
		return 0, time.Time{}, io.EOF
	}
	return r.n, r.stamp(), nil
}

// stamp is the kernel's, the zero time when there is none.
func (r *receiver) stamp() time.Time {
	if r.noob < unix.SizeofCmsghdr {
		return time.Time{}
	}
	h, data, _, err := unix.ParseOneSocketControlMessage(r.oob[:r.noob])
	if err != nil || h.Level != unix.SOL_SOCKET || h.Type != unix.SCM_TIMESTAMPNS || len(data) < 16 {
		return time.Time{}
	}
	sec, nsec := binary.NativeEndian.Uint64(data), binary.NativeEndian.Uint64(data[8:])
	return time.Unix(int64(sec), int64(nsec))
}
