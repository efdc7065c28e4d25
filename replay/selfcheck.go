package replay

import "fmt"

// SelfCheck is what package selfcheck measured of this client on one machine. It is stored with every run that is replayed
// later there. Times are microseconds.
type SelfCheck struct {
	AtUS    int64    `json:"at_us"` // when, since 1970
	TookUS  int64    `json:"took_us"`
	System  string   `json:"system"` // operating system, architecture and Go
	CPUs    int      `json:"cpus"`   // that this program may use, shared with the server it measured against
	Load    *float64 `json:"load"`   // processes that ran or wanted to, last minute, before the check; nil when the system does not say
	LoadEnd *float64 `json:"load_end"`

	Send     SendCheck  `json:"send"`
	Stamps   StampCheck `json:"stamps"`
	Streams  Ladder     `json:"streams"`  // how many at once
	Requests Ladder     `json:"requests"` // how many a second
}

// Spread describes a sample of errors.
type Spread struct {
	N   int     `json:"n"`
	P50 float64 `json:"p50_us"`
	P99 float64 `json:"p99_us"`
	Max float64 `json:"max_us"`
}

// SendCheck says how late requests leave.
type SendCheck struct {
	PerSecond int     `json:"per_second"`
	Error     Spread  `json:"error"`  // written, after due
	Server    Spread  `json:"server"` // read by the server, after due: with the way there and the server's own wake-up
	HiccupP99 float64 `json:"hiccup_p99_us"`
}

// StampCheck says how far the times of chunks are from the truth: outside the server's write call. Both clients ran at
// once, half of the streams each.
type StampCheck struct {
	Streams     int     `json:"streams"`
	PerSecond   float64 `json:"chunks_per_s"`       // of one stream
	Kernel      *Spread `json:"kernel"`             // nil where the kernel does not stamp
	Clock       Spread  `json:"clock"`              // the same client reading the clock when it gets to run
	WriteP99    float64 `json:"server_write_us"`    // 99th percentile of the length of the server's write calls: no truth is finer
	ServerLate  float64 `json:"server_late_p99_us"` // how late the server wrote, after it was due to
	SharedShare float64 `json:"shared_share"`       // of chunks that came out of one read with an earlier one
	HiccupP99   float64 `json:"hiccup_p99_us"`
}

// Ladder is a load that was raised until the client broke a bound.
type Ladder struct {
	Carried int    `json:"carried"` // the highest load within the bounds; 0 when not even the lowest was
	Limit   string `json:"limit"`   // what broke above it; "" when the ladder ended before anything did
	Rungs   []Rung `json:"rungs"`   // in the order they were tried
}

// Rung is one load that was tried.
type Rung struct {
	Load       int      `json:"load"`
	LagP99     float64  `json:"lag_p99_us"`
	StampP99   *float64 `json:"stamp_p99_us"` // nil when no chunk could be checked
	ServerLate float64  `json:"server_late_p99_us"`
	HiccupP99  float64  `json:"hiccup_p99_us"`
	CPU        *float64 `json:"cpu_share"` // of client and server together
	Broke      string   `json:"broke"`     // which bound; "" when within
}

// Limits compares a plan with what the client was measured to carry, before or after it is sent.
func (c *SelfCheck) Limits(s *Summary) (list []Notice) {
	if c == nil {
		return []Notice{{"no_selfcheck", "what this client can do on this machine was never measured: reprise selfcheck"}}
	}
	over := func(what string, asked int, l *Ladder) {
		if asked > l.Carried && l.Limit != "" {
			if l.Carried == 0 {
				list = append(list, Notice{"beyond_selfcheck", fmt.Sprintf("the self-check could not show that this client carries any %s: %s", what, l.Limit)})
				return
			}
			list = append(list, Notice{"beyond_selfcheck", fmt.Sprintf("the plan has %d %s at its peak; this client carried %d in its self-check (%s above that)", asked, what, l.Carried, l.Limit)})
		}
	}
	over("requests a second", s.PeakRate, &c.Requests)
	if s.PeakConcurrency != nil {
		over("requests at once", *s.PeakConcurrency, &c.Streams)
	}
	return list
}
