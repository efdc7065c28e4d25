package replay

import (
	"math"
	"slices"
	"time"
)

// Fidelity says how far what was sent is what was recorded (metrics.md part 6), and whether this client was the limit. A
// pointer is nil when there is nothing to go by.
type Fidelity struct {
	Verdict string   `json:"verdict"` // Faithful, Degraded or Invalid
	Reasons []string `json:"reasons"` // why not faithful, in words

	Scheduled  int `json:"scheduled"`
	Sent       int `json:"sent"`
	Inversions int `json:"inversions"` // sends more than 1 ms before one that was due earlier
	Held       int `json:"held"`       // sends that had to wait for the safety limit
	Lag        Lag `json:"lag"`

	DriftMSPerS *float64 `json:"drift_ms_per_s"` // Theil-Sen slope of the lag on time
	ArrivalKS   *float64 `json:"arrival_ks"`     // KS distance of inter-arrivals, planned against sent
	ArrivalKS1  *float64 `json:"arrival_ks_1ms"` // the same, blind to shifts within 1 ms; this one is judged
	CVRatio     *float64 `json:"cv_ratio"`       // coefficient of variation of inter-arrivals, sent over planned; null for even sends
	RateDiff    int      `json:"rate_diff"`      // largest difference of sends within one second, planned against sent

	InputRatio   *float64 `json:"input_ratio"`                     // tokens the target counted over tokens recorded
	InputClose   *float64 `json:"input_within_2pct"`               // share of requests
	OutputRatio  *float64 `json:"output_ratio"`                    // of finished requests, without those of Unforced
	Unforced     int      `json:"unforced"`                        // requests whose answer has to be of a form: their length is the model's own although lengths are forced
	OutputKS     *float64 `json:"output_ks"`                       // KS distance of output lengths, recorded against produced
	PrefixPlan   *float64 `json:"prefix_share_log"`                // ideal hits of input tokens, of the recorded prompts that were sent
	PrefixSent   *float64 `json:"prefix_share_sent"`               // the same, measured on the text sent
	PrefixAll    *float64 `json:"prefix_share_all_sent,omitempty"` // of a shard: ideal hits of its input tokens when the other clients' prompts are in the cache, too
	CachedTarget *float64 `json:"cached_share"`                    // what the target says came from its cache
	Warm         bool     `json:"cache_warm,omitempty"`            // more came from the cache than this replay's prompts can have put there
	CachedLog    *float64 `json:"cached_share_log"`                // what the log says of the same requests
	TurnsEarly   int      `json:"turns_before_reply"`              // turns that left before the answer that their recorded user had seen

	Dependency *Dependency `json:"dependency"` // nil in open pacing, where no turn waits

	Health Health `json:"health"`
}

// Lag is how late requests left, without the wait for a new connection, which Health shows.
type Lag struct {
	P50US   float64 `json:"p50_us"`
	P99US   float64 `json:"p99_us"`
	MaxUS   float64 `json:"max_us"`
	LimitUS float64 `json:"limit_us"` // bound on the 99th percentile
}

// Dependency is how much later than planned turns were due because the answers before them took longer than recorded. It is the
// target's doing, no lag of this client. A run with it is closed-loop: its load follows the target.
type Dependency struct {
	Turns        int     `json:"turns"`         // that followed another
	Late         int     `json:"late"`          // of them, due more than 1 ms later than planned
	ThinkUnknown int     `json:"think_unknown"` // of them, followed at once since their think time is not known
	P50US        float64 `json:"p50_us"`
	P99US        float64 `json:"p99_us"`
	MaxUS        float64 `json:"max_us"`
}

// Health is the state of this client during the replay.
type Health struct {
	CPUShare    *float64 `json:"cpu_share"` // of the cores this program may use
	GCPauseP99  *float64 `json:"gc_pause_p99_us"`
	HiccupP99   float64  `json:"hiccup_p99_us"` // how late a sleeping thread wakes: the floor of every figure here
	HiccupMax   float64  `json:"hiccup_max_us"`
	Connections int      `json:"connections"` // opened
	ConnectP99  *float64 `json:"connect_p99_us"`
	KernelShare *float64 `json:"kernel_stamp_share"` // of answers whose every read the kernel stamped
	ReadLateP99 *float64 `json:"read_late_p99_us"`   // worst time of an answer from arrival of bytes to their processing
	Coalesced   *float64 `json:"coalesced_share"`    // of chunks that came out of one read with an earlier one
}

func (t *tally) fidelity(h Health) Fidelity {
	f := Fidelity{Scheduled: len(t.r.plan.Items), Sent: t.nSent, Held: t.r.d.held, Health: h}
	t.fillLoad(&f)
	t.fillLengths(&f)
	t.fillPrefix(&f)
	t.fillHealth(&f.Health)
	f.TurnsEarly = t.turnsEarly()
	f.Dependency = t.dependency()
	f.judge(t.r.opt.TTFTSLO, t.r.plan.Options.Lengths)
	return f
}

// fillLoad compares when requests left with when they were due.
func (t *tally) fillLoad(f *Fidelity) {
	var due, sent, lags []float64 // milliseconds
	for _, x := range t.done {
		if x.again {
			continue
		}
		d := ms(x.due)
		due, sent, lags = append(due, d), append(sent, d+ms(x.sent)), append(lags, ms(x.lag))
	}
	if len(due) == 0 {
		return
	}
	for i := 1; i < len(sent); i++ {
		if sent[i] < sent[i-1]-1 {
			f.Inversions++
		}
	}
	sorted := slices.Sorted(slices.Values(lags))
	f.Lag.P50US, f.Lag.P99US, f.Lag.MaxUS = 1000*quantile(sorted, .5), 1000*quantile(sorted, .99), 1000*sorted[len(sorted)-1]
	f.DriftMSPerS = slope(due, lags)
	if f.DriftMSPerS != nil {
		*f.DriftMSPerS *= 1000 // per ms of schedule to per s
	}
	a, b := intervals(due), intervals(sent)
	f.ArrivalKS, f.ArrivalKS1 = ks(a, b, 0), ks(a, b, 1)
	if va, vb := variation(a), variation(b); va != nil && vb != nil && *va > .05 { // below, it is the jitter that is compared
		ratio := *vb / *va
		f.CVRatio = &ratio
	}
	f.RateDiff = rateDiff(due, sent)
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// intervals are the distances of instants in order.
func intervals(instants []float64) []float64 {
	s := slices.Sorted(slices.Values(instants))
	var d []float64
	for i := 1; i < len(s); i++ {
		d = append(d, s[i]-s[i-1])
	}
	return d
}

// rateDiff is the largest difference of counts over seconds of the schedule.
func rateDiff(due, sent []float64) (worst int) {
	counts := map[int]int{}
	for i := range due {
		counts[int(math.Floor(due[i]/1000))]++
		counts[int(math.Floor(sent[i]/1000))]--
	}
	for _, n := range counts {
		worst = max(worst, n, -n)
	}
	return worst
}

// fillLengths compares token counts of requests that ended well.
func (t *tally) fillLengths(f *Fidelity) {
	var in, inLog, out, outLog int64
	var lens, lensLog []float64
	counted, near := int64(0), int64(0)
	for _, x := range t.done {
		it := &t.r.plan.Items[x.index]
		if it.Probe != "" {
			continue // was never recorded
		}
		if x.ok && x.input >= 0 {
			in, inLog, counted = in+x.input, inLog+it.InputTokens, counted+1
			if d := x.input - it.InputTokens; float64(max(d, -d)) <= .02*float64(it.InputTokens) {
				near++
			}
		}
		if x.free {
			f.Unforced++
		} else if x.ok && x.output >= 0 {
			out, outLog = out+x.output, outLog+it.OutputTokens
			lens, lensLog = append(lens, float64(x.output)), append(lensLog, float64(it.OutputTokens))
		}
	}
	f.InputRatio, f.InputClose, f.OutputRatio = share(in, inLog), share(near, counted), share(out, outLog)
	f.OutputKS = ks(lensLog, lens, 0)
}

// fillPrefix compares how much of the prompts is shared.
func (t *tally) fillPrefix(f *Fidelity) {
	var in, hit, counted, cached, countedLog, cachedLog int64
	shaped := false
	for _, x := range t.done {
		it := &t.r.plan.Items[x.index]
		if it.Probe != "" {
			continue
		}
		if !x.again {
			in, hit = in+it.InputTokens, hit+it.IdealHit
		}
		shaped = shaped || it.shaped()
		if x.cached >= 0 && x.input > 0 {
			counted, cached = counted+x.input, cached+x.cached
			if it.CachedTokens != nil {
				countedLog, cachedLog = countedLog+it.InputTokens, cachedLog+*it.CachedTokens
			}
		}
	}
	if shaped {
		f.PrefixPlan = share(hit, in)
	}
	f.PrefixSent = share(t.hit, t.words)
	if p := t.r.plan.Part; p != nil {
		f.PrefixAll = p.PrefixShare
	}
	f.CachedTarget, f.CachedLog = share(cached, counted), share(cachedLog, countedLog)
}

// fillHealth adds what the calls themselves tell about the client.
func (t *tally) fillHealth(h *Health) {
	var waits, late []float64
	var kernel, coalesced, chunks, answers int64
	for _, x := range t.done {
		if x.written && !x.reused {
			h.Connections++
			waits = append(waits, float64(x.wait)/1000)
		}
		if x.written {
			answers++
			late = append(late, float64(x.late)/1000)
			if x.kernel {
				kernel++
			}
		}
		coalesced, chunks = coalesced+int64(x.coalesced), chunks+int64(x.chunks)
	}
	h.ConnectP99, h.ReadLateP99 = quantileOf(waits, .99), quantileOf(late, .99)
	h.KernelShare, h.Coalesced = share(kernel, answers), share(coalesced, chunks)
}

// turnsEarly counts turns that left before the answer they followed had ended: the recorded user had seen that answer, so the
// target is slower than the recorded system, or the plan is sped up.
func (t *tally) turnsEarly() (n int) {
	ends := make([]time.Duration, len(t.r.plan.Items))
	for _, x := range t.done {
		if x.end >= 0 {
			ends[x.index] = max(ends[x.index], x.due+x.end)
		}
	}
	for _, x := range t.done {
		if before := t.r.turns[x.index].after; !x.again && before >= 0 && ends[before] > x.due {
			n++
		}
	}
	return n
}

// dependency sums up how turns waited; nil in open pacing.
func (t *tally) dependency() *Dependency {
	if t.r.follow == nil {
		return nil
	}
	d, waits := &Dependency{}, []float64{0}
	for _, x := range t.done {
		if x.again || t.r.turns[x.index].after < 0 {
			continue
		}
		late := max(x.due-time.Duration(t.r.plan.Items[x.index].DueUS)*time.Microsecond, 0)
		d.Turns++
		d.Late += count(late > time.Millisecond)
		d.ThinkUnknown += count(!t.r.turns[x.index].known)
		waits = append(waits, float64(late)/1000)
	}
	if d.Turns > 0 {
		waits = waits[1:]
	}
	slices.Sort(waits)
	d.P50US, d.P99US, d.MaxUS = quantile(waits, .5), quantile(waits, .99), waits[len(waits)-1]
	return d
}
