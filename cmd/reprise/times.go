package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// parseTime reads a time of the command line as microseconds since 1970: RFC 3339, a date, a date and time without a
// zone (both UTC), now, now-7d, now-90m, or an ISO week (2026-W47, its Monday). "" is nil.
func parseTime(s string) (*int64, error) {
	if s == "" {
		return nil, nil
	}
	if t, ok := parseAbsolute(s); ok {
		us := t.UnixMicro()
		return &us, nil
	}
	if rest, ok := strings.CutPrefix(s, "now"); ok {
		if d, err := ago(rest); err == nil {
			us := time.Now().Add(-d).UnixMicro()
			return &us, nil
		}
	}
	return nil, fmt.Errorf("expected a time such as 2026-11-24T14:00Z, 2026-11-24, 2026-W47 or now-7d, got %q", s)
}

func parseAbsolute(s string) (time.Time, bool) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04", time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, true
		}
	}
	return parseWeek(s)
}

// parseWeek reads an ISO week that exists, such as 2026-W47, as its Monday: not every year has a week 53.
func parseWeek(s string) (time.Time, bool) {
	year, week, ok := strings.Cut(s, "-W")
	y, err1 := strconv.Atoi(year)
	w, err2 := strconv.Atoi(week)
	if !ok || err1 != nil || err2 != nil || len(year) != 4 {
		return time.Time{}, false
	}
	monday := isoWeek(y, w)
	gotYear, gotWeek := monday.ISOWeek()
	return monday, gotYear == y && gotWeek == w
}

// isoWeek is the Monday of an ISO week: week 1 is the one with 4 January in it.
func isoWeek(year, week int) time.Time {
	jan4 := time.Date(year, 1, 4, 0, 0, 0, 0, time.UTC)
	monday := jan4.AddDate(0, 0, -(int(jan4.Weekday())+6)%7)
	return monday.AddDate(0, 0, 7*(week-1))
}

func ago(s string) (time.Duration, error) {
	if s == "" {
		return 0, nil
	}
	num, ok := strings.CutPrefix(s, "-")
	if !ok {
		return 0, fmt.Errorf("expected now-DURATION")
	}
	if days, ok := strings.CutSuffix(num, "d"); ok {
		n, err := strconv.Atoi(days)
		return time.Duration(n) * 24 * time.Hour, err
	}
	return time.ParseDuration(num)
}

func rfc3339(us int64) string { return time.UnixMicro(us).UTC().Format(time.RFC3339) }
