package gateway

import (
	"strings"
	"time"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// stamps fills Arrival and EndUS and returns the first-token stamp as microseconds from arrival, nil when there is
// none. Whether that stamp means anything is the caller's to decide.
func stamps(c *decode.Context, r *trace.Request, start, end, first string) (*int64, error) {
	if start == "" {
		return nil, c.Reject("no_time", "expected a startTime, got none")
	}
	at, err := stamp(c, r, start)
	if err != nil {
		return nil, c.Reject("bad_time", "startTime: %v", err)
	}
	r.Arrival = c.Int(at)
	if r.EndUS, err = offset(c, r, end, at); err != nil {
		return nil, c.Reject("bad_time", "endTime: %v", err)
	}
	f, err := offset(c, r, first, at)
	if err != nil {
		return nil, c.Reject("bad_time", "completionStartTime: %v", err)
	}
	return f, nil
}

func offset(c *decode.Context, r *trace.Request, s string, from int64) (*int64, error) {
	if s == "" {
		return nil, nil
	}
	at, err := stamp(c, r, s)
	if err != nil {
		return nil, err
	}
	return c.Int(at - from), nil
}

// stamp reads unix seconds, or a date and time.
func stamp(c *decode.Context, r *trace.Request, s string) (int64, error) {
	if date := len(s) > 4 && s[4] == '-'; !date && strings.Trim(s, "0123456789.eE+") == "" {
		return decode.Micros(s, time.Second)
	}
	at, naive, err := decode.Time(s, c.Zone)
	if naive {
		r.AddQuality(trace.QNaiveTime)
	}
	return at, err
}
