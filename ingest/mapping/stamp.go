package mapping

import (
	"fmt"
	"strings"
	"time"

	"reprise/ingest/decode"
)

// stamp is how a point in time is written.
type stamp struct {
	format string // one of stampFormats, or a Go layout
	zone   *time.Location
	moment string // of the call: start (also ""), end, headers, or late: somewhere behind the start
}

func stampFormats() []string {
	return []string{"rfc3339", "unix_s", "unix_ms", "unix_us", "unix_ns", "rfc3339_or_unix", "dotnet_ticks"}
}

func units() map[string]time.Duration {
	return map[string]time.Duration{"s": time.Second, "ms": time.Millisecond, "us": time.Microsecond, "ns": time.Nanosecond, "text": 0}
}

// read returns microseconds since 1970 and the step of the stamp in microseconds; naive says that zone decided.
func (st *stamp) read(s string, zone *time.Location) (us, step int64, naive bool, err error) {
	if st.zone != nil {
		zone = st.zone
	}
	if zone == nil {
		zone = time.UTC
	}
	switch format := st.format; format {
	case "rfc3339":
		us, naive, err = decode.Time(s, zone)
		return us, fraction(s, 1_000_000), naive && st.zone == nil, err
	case "rfc3339_or_unix":
		if strings.Trim(s, "0123456789.") != "" {
			us, naive, err = decode.Time(s, zone)
			return us, fraction(s, 1_000_000), naive && st.zone == nil, err
		}
		if format, err = byDigits(s); err != nil {
			return 0, 0, false, err
		}
		return epoch(s, format)
	case "unix_s", "unix_ms", "unix_us", "unix_ns":
		return epoch(s, format)
	case "dotnet_ticks": // of 100 ns, since the year 1 (formats.md 4.2)
		us, err = decode.Micros(s, 100*time.Nanosecond)
		return us - 62_135_596_800_000_000, 1, false, err
	}
	t, err := time.ParseInLocation(st.format, s, zone)
	if err != nil {
		return 0, 0, false, fmt.Errorf("expected a time like %q, got %q", st.format, s)
	}
	zoned := strings.Contains(st.format, "-07") || strings.Contains(st.format, "Z07")
	return t.UnixMicro(), fraction(s, 1_000_000), !zoned && st.zone == nil, nil
}

func epoch(s, format string) (us, step int64, naive bool, err error) {
	unit := units()[strings.TrimPrefix(format, "unix_")]
	us, err = decode.Micros(s, unit)
	return us, fraction(s, max(unit.Microseconds(), 1)), false, err
}

// byDigits tells the unit of an epoch stamp by its length, which is unambiguous from 2001 to 2286.
func byDigits(s string) (string, error) {
	whole, _, _ := strings.Cut(s, ".")
	switch len(whole) {
	case 10:
		return "unix_s", nil
	case 13:
		return "unix_ms", nil
	case 16:
		return "unix_us", nil
	case 19:
		return "unix_ns", nil
	}
	return "", fmt.Errorf("expected unix time of 10, 13, 16 or 19 digits, got %q", s)
}

// fraction gives the step of a stamp in microseconds from the digits behind its point: what is written, not more.
func fraction(s string, unit int64) int64 {
	_, digits, _ := strings.Cut(s, ".")
	for i := 0; i < len(digits) && digits[i] >= '0' && digits[i] <= '9'; i += 3 {
		unit /= 1000
	}
	return max(unit, 1)
}

// duration reads a length of time as microseconds; unit 0 is text such as 1m4s.
func duration(s string, unit time.Duration) (int64, error) {
	if unit > 0 {
		return decode.Micros(s, unit)
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, fmt.Errorf("expected a duration such as 706ms, got %q", s)
	}
	return d.Round(time.Microsecond).Microseconds(), nil
}
