package decode

import (
	"fmt"
	"time"
)

// Time reads a text stamp as microseconds since 1970; finer digits are cut off. RFC 3339 (also with a space for the T)
// carries its own zone; a stamp without one is read in zone (nil is UTC) and isNaive is true.
func Time(s string, zone *time.Location) (us int64, isNaive bool, err error) {
	if zone == nil {
		zone = time.UTC
	}
	w, rest, ok := readWall(s)
	if ok && rest == "" {
		return w.in(zone), true, nil
	}
	if east, known := readZone(rest); ok && known {
		return w.in(time.UTC) - east, false, nil
	}
	return anyTime(s, zone)
}

// layouts without a zone; the fraction is optional in each.
var naive = []string{"2006-01-02 15:04:05", "2006-01-02T15:04:05"}

// anyTime reads what Time reads with the standard library alone: slower, and with all its leniencies.
func anyTime(s string, zone *time.Location) (us int64, isNaive bool, err error) {
	if len(s) > 10 && s[10] == ' ' {
		if t, err := time.Parse(time.RFC3339Nano, s[:10]+"T"+s[11:]); err == nil {
			return t.UnixMicro(), false, nil
		}
	}
	if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
		return t.UnixMicro(), false, nil
	}
	for _, layout := range naive {
		if t, err := time.ParseInLocation(layout, s, zone); err == nil {
			return t.UnixMicro(), true, nil
		}
	}
	return 0, false, fmt.Errorf("expected a time such as 2026-11-24T14:02:03.5Z, got %q", s)
}

// wall is what a calendar and a clock on the wall show.
type wall struct{ year, month, day, hour, minute, second, micros int64 }

func (w wall) in(zone *time.Location) int64 {
	if zone == time.UTC {
		return ((daysFrom1970(w.year, w.month, w.day)*24+w.hour)*60+w.minute)*60e6 + w.second*1e6 + w.micros
	}
	t := time.Date(int(w.year), time.Month(w.month), int(w.day), int(w.hour), int(w.minute), int(w.second), 0, zone)
	return t.Unix()*1e6 + w.micros
}

// daysFrom1970 counts days of the Gregorian calendar, from year 0 on. Years are counted from March, so that the leap day is
// the last of its year.
func daysFrom1970(year, month, day int64) int64 {
	if month -= 3; month < 0 {
		month, year = month+12, year-1
	}
	year += 400 // not negative: 146,097 days more
	return 365*year + year/4 - year/100 + year/400 + (153*month+2)/5 + day - 1 - 719468 - 146097
}

// readWall reads the usual form, 2026-11-24 14:02:03 and perhaps a fraction, and returns the text behind it. A record
// holds three stamps, and the standard library fails at two layouts before it reads one. Whatever is odd is left
// to it.
func readWall(s string) (w wall, rest string, ok bool) {
	if len(s) < 19 || s[4] != '-' || s[7] != '-' || s[10] != ' ' && s[10] != 'T' || s[13] != ':' || s[16] != ':' {
		return w, "", false
	}
	century, year := twoDigits(s[0:]), twoDigits(s[2:])
	w = wall{year: century*100 + year, month: twoDigits(s[5:]), day: twoDigits(s[8:]), hour: twoDigits(s[11:]), minute: twoDigits(s[14:]), second: twoDigits(s[17:])}
	if century|year|w.month|w.day|w.hour|w.minute|w.second < 0 || w.month < 1 || w.month > 12 || w.day < 1 || w.day > 31 || w.hour > 23 || w.minute > 59 || w.second > 59 {
		return w, "", false
	}
	if w.day > 28 && time.Date(int(w.year), time.Month(w.month), int(w.day), 0, 0, 0, 0, time.UTC).Day() != int(w.day) {
		return w, "", false
	}
	w.micros, rest = readFraction(s[19:])
	return w, rest, true
}

// twoDigits reads the two digits that s begins with; -1 when they are none.
func twoDigits(s string) int64 {
	tens, ones := s[0]-'0', s[1]-'0'
	if tens > 9 || ones > 9 {
		return -1
	}
	return int64(tens)*10 + int64(ones)
}

// readFraction reads "." and digits as microseconds and returns the text behind them.
func readFraction(s string) (micros int64, rest string) {
	if len(s) < 2 || s[0] != '.' || s[1] < '0' || s[1] > '9' {
		return 0, s
	}
	i := 1
	for unit := int64(100_000); i < len(s) && s[i] >= '0' && s[i] <= '9'; i, unit = i+1, unit/10 {
		micros += int64(s[i]-'0') * unit
	}
	return micros, s[i:]
}

// readZone reads Z or +01:00 as microseconds east of UTC.
func readZone(s string) (east int64, ok bool) {
	if s == "Z" {
		return 0, true
	}
	if len(s) != 6 || s[0] != '+' && s[0] != '-' || s[3] != ':' {
		return 0, false
	}
	hours, ok1 := digits(s[1:3])
	minutes, ok2 := digits(s[4:6])
	if east = (hours*60 + minutes) * 60e6; s[0] == '-' {
		east = -east
	}
	return east, ok1 && ok2 && hours < 24 && minutes < 60
}
