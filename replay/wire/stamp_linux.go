package wire

import (
	"encoding/binary"
	"io"
	"net"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// socket reads with recvmsg, which brings the kernel's arrival time (SO_TIMESTAMPNS) of the last
// packet along. The transport never reads from two goroutines at once, so the fields carry arguments to and results from the
// callback without an allocation a read.
type socket struct {
	raw  syscall.RawConn
	call func(fd uintptr) bool
	vec  unix.Iovec
	msg  unix.Msghdr
	oob  [64]byte
	n    int
	err  error
}

// kernelCalls returns nil when c cannot be read with stamps.
func kernelCalls(c net.Conn) (recv receive, send func([]byte) (int, error)) {
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return nil, nil
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return nil, nil
	}
	enable := func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1) }
	if raw.Control(enable) != nil || err != nil {
		return nil, nil
	}
	s := &socket{raw: raw}
	s.call = s.receive
	return s.read, s.write
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

// receive makes the call raw, for it never blocks: one that the runtime is told of wakes its monitor thread whenever nothing else runs, which
// took a fifth of the processor time.
func (s *socket) receive(fd uintptr) bool {
	for {
		s.msg.Control, s.msg.Iov = &s.oob[0], &s.vec
		s.msg.SetControllen(len(s.oob))
		s.msg.SetIovlen(1)
		n, _, errno := unix.RawSyscall(unix.SYS_RECVMSG, fd, uintptr(unsafe.Pointer(&s.msg)), unix.MSG_DONTWAIT)
		if s.n, s.err = int(n), nil; errno != 0 {
			s.err = errno
		}
		if errno != unix.EINTR {
			return errno != unix.EAGAIN
		}
	}
}

func (s *socket) read(p []byte) (int, time.Time, error) {
	if len(p) == 0 {
		return 0, time.Time{}, nil
	}
	s.vec.Base = &p[0]
	s.vec.SetLen(len(p))
	err := s.raw.Read(s.call)
	s.vec.Base = nil
	switch {
	case err != nil:
		return 0, time.Time{}, err
	case s.err != nil:
		return 0, time.Time{}, &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("recvmsg", s.err)}
	case s.n == 0:
		return 0, time.Time{}, io.EOF
	}
	return s.n, s.stamp(), nil
}

// largestWrite bounds how long one call can take, for the runtime can stop nothing meanwhile.
const largestWrite = 64 << 10

// write makes its calls raw, too.
func (s *socket) write(p []byte) (n int, err error) {
	var errno syscall.Errno
	err = s.raw.Write(func(fd uintptr) bool {
		for n < len(p) {
			part := p[n:min(n+largestWrite, len(p))]
			var wrote uintptr
			wrote, _, errno = unix.RawSyscall(unix.SYS_WRITE, fd, uintptr(unsafe.Pointer(&part[0])), uintptr(len(part)))
			switch errno {
			case 0:
				n += int(wrote)
			case unix.EINTR:
			default:
				return errno != unix.EAGAIN
			}
		}
		return true
	})
	if err == nil && errno != 0 {
		err = &net.OpError{Op: "write", Net: "tcp", Err: os.NewSyscallError("write", errno)}
	}
	return n, err
}

// stamp is the kernel's, the zero time when there is none.
func (s *socket) stamp() time.Time {
	if s.msg.Controllen < unix.SizeofCmsghdr {
		return time.Time{}
	}
	h, data, _, err := unix.ParseOneSocketControlMessage(s.oob[:s.msg.Controllen])
	if err != nil || h.Level != unix.SOL_SOCKET || h.Type != unix.SCM_TIMESTAMPNS || len(data) < 16 {
		return time.Time{}
	}
	sec, nsec := binary.NativeEndian.Uint64(data), binary.NativeEndian.Uint64(data[8:])
	return time.Unix(int64(sec), int64(nsec))
}
