package main

import (
	"cmp"
	"math"
	"slices"
	"time"

	"reprise/replay/fakellm"
)

// outcome is what a tool did with a load.
type outcome struct {
	Tool string
	Why  string // why there are no figures
	rows []said // by request, or in order of start where the tool has no ids
	truth
	verdict      string // of the tool on itself; "" when it has none
	drawn        bool   // the tool has no plan to be behind
	tool, server *sampler
	from, to     time.Time // when the tool ran
}

// figures are those of one tool and load. Times are in ms; NaN is unknown.
type figures struct {
	Tool, Why, Verdict string
	OK, Sent           int
	TTFT50, TTFT99     float64 // signed; absolute
	Gap99, Stamp99     float64
	Lag50, Lag99       float64 // arrival at the server after due
	CPU                float64 // seconds for 1,000 chunks, while requests were open
	RSS                float64 // MB
	Over               float64 // seconds that the tool ran beside the requests
	ServerLate, Hiccup float64 // 99th percentiles
	Others             float64 // processors that neither tool nor server used
}

// measure joins what a tool says with what the server knows.
func (o *outcome) measure(l *load) figures {
	f := figures{Tool: o.Tool, Why: o.Why, Verdict: o.verdict, TTFT50: math.NaN(), TTFT99: math.NaN(), Gap99: math.NaN(), Stamp99: math.NaN(), Lag50: math.NaN(), Lag99: math.NaN(), CPU: math.NaN()}
	if o.Why != "" {
		return f
	}
	requests := slices.Clone(o.Requests)
	slices.SortFunc(requests, func(a, b fakellm.RequestTruth) int { return cmp.Compare(o.ArrivedNS[a.ID], o.ArrivedNS[b.ID]) })
	if extra := len(requests) - len(l.Due); extra > 0 {
		requests = requests[extra:] // warm-up
	}
	if f.Sent = len(requests); f.Sent == 0 {
		f.Why = "no request arrived"
		return f
	}
	o.errors(&f, requests)
	if !o.drawn {
		o.lags(&f, l, requests)
	}
	o.costs(&f, requests)
	return f
}

// errors are those of times between events of one request, and of stamps where the tool's clock is the server's.
func (o *outcome) errors(f *figures, requests []fakellm.RequestTruth) {
	known := o.matched(requests)
	start := o.Server.StartUnixUS * 1000
	var ttft, gaps, stamps []float64
	for i := range requests {
		t, s := &requests[i], known[requests[i].ID]
		if s == nil || !s.OK || len(s.Chunk) == 0 || len(t.WritingUS) == 0 {
			continue
		}
		f.OK++
		arrived := o.ArrivedNS[t.ID]
		ttft = append(ttft, outside(s.Chunk[0]-s.Sent, start+t.WritingUS[0]*1000-arrived, start+t.WrittenUS[0]*1000-arrived))
		if len(s.Chunk) != len(t.WritingUS) {
			continue // GuideLLM keeps the first and the last
		}
		for k := range s.Chunk {
			if s.Due != 0 {
				stamps = append(stamps, math.Abs(outside(s.Chunk[k], start+t.WritingUS[k]*1000, start+t.WrittenUS[k]*1000)))
			}
			if k > 0 {
				gaps = append(gaps, math.Abs(outside(s.Chunk[k]-s.Chunk[k-1], (t.WritingUS[k]-t.WrittenUS[k-1])*1000, (t.WrittenUS[k]-t.WritingUS[k-1])*1000)))
			}
		}
	}
	f.TTFT50 = quantile(ttft, .5)
	for i := range ttft {
		ttft[i] = math.Abs(ttft[i])
	}
	f.TTFT99, f.Gap99, f.Stamp99 = quantile(ttft, .99), quantile(gaps, .99), quantile(stamps, .99)
}

// matched finds what the tool says of each request: by id, or, where the tool keeps none and lost none, in order of start.
func (o *outcome) matched(requests []fakellm.RequestTruth) map[string]*said {
	byID, known := map[string]*said{}, map[string]*said{}
	for i := range o.rows {
		byID[o.rows[i].ID] = &o.rows[i]
	}
	for _, r := range requests {
		if s := byID[r.ID]; s != nil {
			known[r.ID] = s
		}
	}
	if len(known) > 0 || len(o.rows) != len(requests) {
		return known
	}
	slices.SortStableFunc(o.rows, func(a, b said) int { return cmp.Compare(a.Sent, b.Sent) })
	for i, r := range requests {
		known[r.ID] = &o.rows[i]
	}
	return known
}

// outside is how far a time is from what the server knows it to be within, in ms. Stamps of the server are whole microseconds.
func outside(at, from, to int64) float64 {
	switch {
	case at < from-1000:
		return float64(at-from+1000) / 1e6
	case at > to+1000:
		return float64(at-to-1000) / 1e6
	}
	return 0
}

// lags are those of arrivals in the kernel of the server behind the plan. Where the tool does not say when it began, the least late
// request counts as punctual: k-th arrival against k-th planned.
func (o *outcome) lags(f *figures, l *load, requests []fakellm.RequestTruth) {
	due := map[string]int64{}
	for _, s := range o.rows {
		if s.Due != 0 {
			due[s.ID] = s.Due
		}
	}
	var lag []float64
	for i := range requests {
		at := o.ArrivedNS[requests[i].ID]
		if d, ok := due[requests[i].ID]; ok {
			lag = append(lag, float64(at-d)/1e6)
		} else if len(due) == 0 && l.Rate > 0 && i < len(l.Due) {
			lag = append(lag, float64(at-int64(l.Due[i]))/1e6)
		}
	}
	if len(due) == 0 && len(lag) > 0 {
		least := slices.Min(lag)
		for i := range lag {
			lag[i] -= least
		}
	}
	f.Lag50, f.Lag99 = quantile(lag, .5), quantile(lag, .99)
}

// costs are what tool, server and others took of the machine while requests were open.
func (o *outcome) costs(f *figures, requests []fakellm.RequestTruth) {
	var late []float64
	chunks := 0
	first, last := int64(math.MaxInt64), int64(0)
	for i := range requests {
		t := &requests[i]
		first, last = min(first, o.ArrivedNS[t.ID]), max(last, (o.Server.StartUnixUS+t.EndUS)*1000)
		chunks += len(t.WrittenUS)
		for k, at := range t.WrittenUS {
			late = append(late, float64(at-t.ChunkUS[k])/1e3)
		}
	}
	f.ServerLate, f.Hiccup = quantile(late, .99), quantile(o.tool.late, .99)
	from, to := time.Unix(0, first), time.Unix(0, last)
	tool, all, rss := o.tool.between(from, to)
	server, _, _ := o.server.between(from, to)
	span := to.Sub(from).Seconds()
	f.CPU, f.RSS, f.Over = tool/float64(chunks)*1000, float64(rss)/1e6, o.to.Sub(o.from).Seconds()-span
	f.Others = max(all-tool-server, 0) / span
}

// quantile is type 1; NaN of nothing.
func quantile(v []float64, p float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(v))
	return s[max(int(math.Ceil(p*float64(len(s))))-1, 0)]
}
