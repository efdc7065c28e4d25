package reports

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// unknown is how NULL prints: never 0, never empty.
const unknown = "n/a"

// decimals returns how many digits behind the point keep three significant digits of the smallest of vals that is not
// 0: 0 to 3, and 0 when all are whole numbers.
func decimals(vals []float64) int {
	smallest, whole := math.Inf(1), true
	for _, v := range vals {
		if v != 0 {
			smallest = min(smallest, math.Abs(v))
		}
		whole = whole && v == math.Trunc(v)
	}
	if whole {
		return 0
	}
	return digits(2, smallest, 0, 3)
}

// percentDecimals does the same for per cents: two significant digits of the smallest, 1 or 2 decimals unless all are
// whole.
func percentDecimals(vals []float64) int {
	smallest, whole := math.Inf(1), true
	for _, v := range vals {
		if v = math.Abs(v); v > 1e-9 {
			smallest = min(smallest, v)
		}
		whole = whole && math.Abs(v-math.Round(v)) < 1e-9
	}
	if whole {
		return 0
	}
	return digits(1, smallest, 1, 2)
}

// perCent prints v per cent with d decimals. What would round to 0 or 100 without being it keeps its own digits: 99.998
// never reads as 100.
func perCent(v float64, d int) string {
	near := min(math.Abs(v), math.Abs(100-v))
	if half := 0.5 * math.Pow10(-d); near > 1e-9 && near < half {
		d = digits(0, near, d, 9)
	}
	return number(v, d)
}

// digits is the number of decimals that shows v with extra digits behind its first one, kept in [lo, hi]. A billionth is
// added because 100-99.999 is a little below 0.001 in floating point.
func digits(extra int, v float64, lo, hi int) int {
	return min(max(extra-int(math.Floor(math.Log10(v*(1+1e-9)))), lo), hi)
}

// number prints v with d decimals and commas between thousands. A value that would round to 0 keeps its own digits.
func number(v float64, d int) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return unknown
	}
	s := strconv.FormatFloat(v, 'f', d, 64)
	if v != 0 && strings.Trim(s, "-0.") == "" {
		return strconv.FormatFloat(v, 'g', 2, 64)
	}
	return thousands(s)
}

// thousands puts commas into the whole part of a decimal number.
func thousands(s string) string {
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "-", s[1:]
	}
	whole, frac, hasFrac := strings.Cut(s, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if hasFrac {
		whole += "." + frac
	}
	return sign + whole
}

// count prints a whole number.
func count(n int64) string { return thousands(strconv.FormatInt(n, 10)) }

// one prints a single number with the digits it needs alone.
func one(v float64) string { return number(v, decimals([]float64{v})) }

// percent prints a share (0 to 1) with its sign.
func percent(v float64) string {
	s := perCent(100*v, percentDecimals([]float64{100 * v}))
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s + " %"
}

// duration prints milliseconds in the unit people say: ms below one second, then s, min and h.
func duration(ms float64) string {
	switch a := math.Abs(ms); {
	case a < 1000:
		return one(ms) + " ms"
	case a < 120e3:
		return one(ms/1e3) + " s"
	case a < 7200e3:
		return one(ms/60e3) + " min"
	}
	return one(ms/3600e3) + " h"
}

// utc prints microseconds since 1970. Seconds and their parts appear only when layout asks for them.
func utc(us int64, layout string) string { return time.UnixMicro(us).UTC().Format(layout) }

// clock is the shortest layout that loses nothing of the times given.
func clock(times []int64) string {
	layout := "2006-01-02 15:04"
	for _, us := range times {
		if us%1e6 != 0 {
			return "2006-01-02 15:04:05.000000"
		}
		if us%60e6 != 0 {
			layout = "2006-01-02 15:04:05"
		}
	}
	return layout
}
