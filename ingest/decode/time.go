package decode

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Micros reads a decimal number of units as whole microseconds, exactly and rounded to nearest, without going through
// floating point: Micros("1795961911.985598", time.Second) is 1795961911985598. Exponents are accepted.
func Micros(s string, unit time.Duration) (int64, error) {
	exp := 0
	for d := unit; d > 1; d /= 10 {
		exp++
	}
	exp -= 3 // nanoseconds to microseconds
	neg, digits := false, s
	if digits != "" && (digits[0] == '-' || digits[0] == '+') {
		neg, digits = digits[0] == '-', digits[1:]
	}
	if i := strings.IndexAny(digits, "eE"); i >= 0 {
		e, err := strconv.Atoi(digits[i+1:])
		if err != nil || e > 30 || e < -30 {
			return 0, fmt.Errorf("expected a number, got %q", s)
		}
		digits, exp = digits[:i], exp+e
	}
	whole, frac, _ := strings.Cut(digits, ".")
	if whole == "" && frac == "" || len(whole) > 20 {
		return 0, fmt.Errorf("expected a number, got %q", s)
	}
	return scale(s, strings.TrimLeft(whole+frac, "0"), exp-len(frac), neg)
}

// scale computes digits * 10^exp, rounding half away from zero.
func scale(s, digits string, exp int, neg bool) (int64, error) {
	for ; exp > 0 && len(digits) <= 20; exp-- {
		digits += "0"
	}
	cut := min(-exp, len(digits))
	roundUp := cut > 0 && -exp <= len(digits) && digits[len(digits)-cut] >= '5'
	n := int64(0)
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, fmt.Errorf("expected a number, got %q", s)
		}
	}
	if -exp > len(digits) {
		return 0, nil
	}
	for _, c := range digits[:len(digits)-max(cut, 0)] {
		if n > (1<<63-10)/10 {
			return 0, fmt.Errorf("number out of range: %q", s)
		}
		n = n*10 + int64(c-'0')
	}
	if roundUp {
		n++
	}
	if neg {
		n = -n
	}
	return n, nil
}
