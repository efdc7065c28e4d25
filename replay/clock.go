package replay

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"time"
)

// Clock is what is known of how far the wall clock of this machine is from a reference.
type Clock struct {
	Source   string   `json:"source"`        // "ntp HOST:PORT", "kernel" (what the machine's own time service told the kernel), or "none"
	OffsetUS *float64 `json:"offset_us"`     // this clock minus the reference; nil when unknown
	ErrorUS  *float64 `json:"error_us"`      // OffsetUS is wrong by no more; nil when OffsetUS is
	Why      string   `json:"why,omitempty"` // why it is unknown
}

// ReadClock asks an NTP server, HOST or HOST:PORT; "" asks the kernel. It takes at most two seconds.
func ReadClock(server string) Clock {
	if server == "" {
		return kernelClock()
	}
	if _, _, err := net.SplitHostPort(server); err != nil {
		server = net.JoinHostPort(server, "123")
	}
	c := Clock{Source: "ntp " + server}
	offset, err := askTime(server)
	if err != nil {
		c.Why = err.Error()
		return c
	}
	us, bound := float64(offset.clock)/1e3, float64(offset.bound)/1e3
	c.OffsetUS, c.ErrorUS = &us, &bound
	return c
}

// reading is one answer of a time server.
type reading struct{ clock, bound time.Duration }

// Exchanges with a time server: the one with the shortest way there and back is the least wrong.
const (
	timeAsks = 8
	timeWait = 2 * time.Second
)

// askTime estimates this clock minus the server's (RFC 5905 part 8). The way there and back may be of unequal length, so the
// estimate is wrong by at most half of the time that both take.
func askTime(server string) (best reading, err error) {
	conn, err := net.DialTimeout("udp", server, timeWait)
	if err != nil {
		return best, err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(timeWait))
	got := 0
	for range timeAsks {
		r, askErr := exchange(conn)
		if askErr != nil {
			err = askErr
			break
		}
		if got++; got == 1 || r.bound < best.bound {
			best = r
		}
	}
	if got > 0 {
		err = nil
	}
	return best, err
}

// exchange is one question and its answer.
func exchange(conn net.Conn) (r reading, err error) {
	var ask, answer [48]byte
	ask[0] = 0x23 // version 4, client
	rand.Read(ask[40:48])
	sent := time.Now()
	if _, err = conn.Write(ask[:]); err != nil {
		return r, err
	}
	for {
		n, err := conn.Read(answer[:])
		if err != nil {
			return r, err
		}
		if n == len(answer) && [8]byte(answer[24:32]) == [8]byte(ask[40:48]) {
			break // else the answer to an earlier question
		}
	}
	back := time.Now()
	if answer[1] == 0 {
		return r, fmt.Errorf("the time server refuses (%q)", answer[12:16])
	}
	read, wrote := ntpTime(answer[32:40], sent), ntpTime(answer[40:48], sent)
	way := back.Sub(sent) - wrote.Sub(read)
	if way < 0 {
		return r, errors.New("the time server took longer than the whole exchange")
	}
	return reading{clock: -(read.Sub(sent.Round(0)) + wrote.Sub(back.Round(0))) / 2, bound: way / 2}, nil
}

// ntpEpoch is 1900 in seconds before 1970.
const ntpEpoch = 2208988800

// ntpTime reads a 64-bit stamp. Its seconds wrap every 136 years: the one nearest to an instant is meant.
func ntpTime(b []byte, near time.Time) time.Time {
	sec, frac := binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])
	diff := int32(sec - uint32(near.Unix()+ntpEpoch))
	return time.Unix(near.Unix()+int64(diff), int64(frac)*1e9>>32)
}
