package replay

import (
	"encoding/binary"
	"math"
	"net"
	"strings"
	"testing"
	"time"
)

// timeServer answers as RFC 5905 says, with a clock that is ahead of this one by so much.
func timeServer(t *testing.T, ahead time.Duration, change func([]byte)) string {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		for {
			var b [48]byte
			_, from, err := conn.ReadFrom(b[:])
			if err != nil {
				return
			}
			copy(b[24:32], b[40:48]) // the client's stamp comes back
			b[0], b[1] = 0x24, 2
			now := time.Now().Add(ahead)
			for _, at := range []int{32, 40} {
				binary.BigEndian.PutUint32(b[at:], uint32(now.Unix()+2208988800))
				binary.BigEndian.PutUint32(b[at+4:], uint32(float64(now.Nanosecond())*math.Pow(2, 32)/1e9))
			}
			change(b[:])
			conn.WriteTo(b[:], from)
		}
	}()
	return conn.LocalAddr().String()
}

func TestClockAgainstServer(t *testing.T) {
	for _, ahead := range []time.Duration{0, 7 * time.Millisecond, -90 * time.Minute} {
		server := timeServer(t, ahead, func([]byte) {})
		c := ReadClock(server)
		if c.OffsetUS == nil || c.Source != "ntp "+server {
			t.Fatalf("%+v", c)
		}
		if off := *c.OffsetUS + float64(ahead.Microseconds()); math.Abs(off) > *c.ErrorUS+2 || *c.ErrorUS <= 0 {
			t.Errorf("a server %v ahead: %.1f us off, wrong by at most %.1f", ahead, *c.OffsetUS, *c.ErrorUS)
		}
	}
}

func TestClockUnknown(t *testing.T) {
	refuses := timeServer(t, 0, func(b []byte) { b[1] = 0; copy(b[12:], "RATE") })
	stranger := timeServer(t, 0, func(b []byte) { b[24]++ })
	for _, c := range []struct{ server, want string }{{refuses, `refuses ("RATE")`}, {stranger, "timeout"}, {"127.0.0.1:1", "refused"}} {
		if got := ReadClock(c.server); got.OffsetUS != nil || got.ErrorUS != nil || !strings.Contains(got.Why, c.want) {
			t.Errorf("%s: %+v, want nothing known: %s", c.server, got, c.want)
		}
	}
	if c := ReadClock(""); (c.OffsetUS == nil) != (c.ErrorUS == nil) || (c.OffsetUS == nil) == (c.Why == "") {
		t.Errorf("the kernel's clock: %+v; want an offset with its bound, or why there is none", c)
	}
}

// NTP seconds count from 1900 and wrap on 2036-02-07 06:28:16 UTC.
func TestNTPTimeWraps(t *testing.T) {
	for _, c := range []struct {
		stamp [8]byte
		near  string
		want  string
	}{
		{[8]byte{0xee, 0xb9, 0xbb, 0xa0, 0x80}, "2026-12-01T00:00:00Z", "2026-12-01T21:33:20.5Z"},
		{[8]byte{0, 0, 0, 10}, "2036-02-07T06:28:00Z", "2036-02-07T06:28:26Z"},
		{[8]byte{0xff, 0xff, 0xff, 0xff}, "2036-02-07T06:29:00Z", "2036-02-07T06:28:15Z"},
	} {
		near, _ := time.Parse(time.RFC3339, c.near)
		if got := ntpTime(c.stamp[:], near).UTC().Format(time.RFC3339Nano); got != c.want {
			t.Errorf("%x near %s: %s, want %s", c.stamp, c.near, got, c.want)
		}
	}
}
