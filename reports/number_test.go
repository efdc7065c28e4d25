package reports

import (
	"math"
	"testing"
)

func TestNumbers(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{number(1234567.891, 1), "1,234,567.9"},
		{number(-1234, 0), "-1,234"},
		{number(999, 0), "999"},
		{number(0, 2), "0.00"},
		{number(0.0004, 2), "0.0004"}, // a small value is not 0
		{number(-0.0004, 2), "-0.0004"},
		{number(math.NaN(), 1), "n/a"},
		{number(math.Inf(1), 1), "n/a"},
		{count(-1234567), "-1,234,567"},
		{one(0.123456), "0.123"},
		{one(12.3456), "12.3"},
		{one(4912.7), "4,913"},
		{percent(0.9998), "99.98 %"},
		{percent(0.99999), "99.999 %"},
		{percent(0.999999), "99.9999 %"},
		{percent(0.0000016), "0.0002 %"},
		{perCent(99.96, 1), "99.96"}, // would round to 100
		{perCent(0.04, 1), "0.04"},   // would round to 0
		{perCent(99.94, 1), "99.9"},
		{percent(1), "100 %"},
		{percent(0), "0 %"},
		{percent(0.861), "86.1 %"},
		{percent(0.0001), "0.01 %"},
		{duration(0.31), "0.310 ms"},
		{duration(999.4), "999 ms"},
		{duration(4912.7), "4.91 s"},
		{duration(119999), "120 s"},
		{duration(600000), "10 min"},
		{duration(9 * 3600e3), "9 h"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestClockLosesNothing(t *testing.T) {
	const day = 1795392000000000 // 2026-11-23T00:00:00Z, by date -u
	for _, c := range []struct {
		times []int64
		want  string
	}{
		{[]int64{day, day + 60e6}, "2026-11-23 00:01"},
		{[]int64{day, day + 1e6}, "2026-11-23 00:00:01"},
		{[]int64{day, day + 1}, "2026-11-23 00:00:00.000001"},
	} {
		if got := utc(c.times[1], clock(c.times)); got != c.want {
			t.Errorf("times %v: got %q, want %q", c.times, got, c.want)
		}
	}
}

func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		"gpt-4o é 日本":       "gpt-4o é 日本",
		"a\x1b[31mred":      `a\x1b[31mred`,
		"a\nb\tc\r\x00":     `a\nb\tc\r\x00`,
		"x\u202egnp.exe":    `x\u202egnp.exe`,
		"\u2028\u200b":      `\u2028\u200b`,
		"bad \xff\x80 utf8": `bad \xff\x80 utf8`,
		"\u009b31m":         `\u009b31m`, // the one-byte form of ESC [
	} {
		if got := plain(in); got != want {
			t.Errorf("plain(%q) = %q, want %q", in, got, want)
		}
	}
}
