package analyze

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// sideRows is what a comparison needs of one run.
type sideRows struct {
	path    string
	rows    []logical                // by id
	gaps    map[attemptKey][]float64 // microseconds
	replays []replayed               // what replays say about themselves; none for a log
	doubts  shardDoubts              // when several clients made the run
}

// side reads one run.
func (e *Engine) side(ctx context.Context, r *Run, sc Scope) (*sideRows, error) {
	s := &sideRows{path: r.Path}
	res, err := e.Query(ctx, r, "pairs", sc, nil)
	if err != nil {
		return nil, err
	}
	if s.rows, err = logicals(res); err != nil {
		return nil, err
	}
	if res, err = e.Query(ctx, r, "pair_gaps", sc, nil); err != nil {
		return nil, err
	}
	if s.gaps, err = gapLists(res); err != nil {
		return nil, err
	}
	if s.replays, err = e.replays(ctx, r); err == nil {
		s.doubts, err = e.shardDoubts(ctx, r, s.replays)
	}
	return s, err
}

// replayed is the part of a replay's report that decides whether its latencies are worth anything.
type replayed struct {
	Planned    int
	Shard      *shard // when several clients shared the plan
	Incomplete string // why not everything was sent; "" when it was
	Fidelity   struct {
		Verdict string // FAITHFUL, DEGRADED or INVALID
		Reasons []string
		Warm    bool `json:"cache_warm"` // the target's cache held prompts from before
	}
	SelfCheck *struct { // what the client was measured to be able to do, microseconds
		AtUS   int64 `json:"at_us"`
		Send   struct{ Error p99 }
		Stamps struct {
			Kernel *p99
			Clock  p99
		}
	}
}

type p99 struct {
	P99 float64 `json:"p99_us"`
}

// ClientCheck is the self-check of the client that replayed a run, from before the replay: what it adds by itself.
type ClientCheck struct {
	AtUS     int64   `json:"at_us"` // when, since 1970
	SendP99  float64 `json:"send_error_p99_ms"`
	StampP99 float64 `json:"chunk_time_error_p99_ms"`
}

// warm says that a replay found prompts in the target's cache that it had not sent.
func (s *sideRows) warm() bool {
	return slices.ContainsFunc(s.replays, func(r replayed) bool { return r.Fidelity.Warm })
}

// client is the self-check of the last replay that has one; nil without.
func (s *sideRows) client() (c *ClientCheck) {
	for _, r := range s.replays {
		if k := r.SelfCheck; k != nil {
			stamp := k.Stamps.Clock.P99
			if k.Stamps.Kernel != nil {
				stamp = k.Stamps.Kernel.P99
			}
			c = &ClientCheck{k.AtUS, k.Send.Error.P99 / 1e3, stamp / 1e3}
		}
	}
	return c
}

// replays reads the report that a replay stores in the metadata of its parts, under reprise.replay.
func (e *Engine) replays(ctx context.Context, r *Run) ([]replayed, error) {
	if e.cluster != nil { // Trino does not read it: see the warning replay_unseen
		return nil, nil
	}
	rows, err := e.conn.QueryContext(ctx, "SELECT DISTINCT decode(value) FROM parquet_kv_metadata("+r.partList()+
		") WHERE decode(key) = 'reprise.replay' ORDER BY 1")
	if err != nil {
		return nil, fmt.Errorf("read metadata of %q: %w", r.Path, err)
	}
	defer rows.Close()
	var out []replayed
	for rows.Next() {
		var report string
		var one replayed
		if err := rows.Scan(&report); err != nil {
			return nil, err
		}
		if err := json.Unmarshal([]byte(report), &one); err != nil {
			return nil, fmt.Errorf("read replay report of %q: %w", r.Path, err)
		}
		out = append(out, one)
	}
	return out, rows.Err()
}

// Side describes one run of a comparison.
type Side struct {
	Requests     int            `json:"requests"` // logical requests that generate text
	FirstUS      *int64         `json:"first_us"` // first and last paired arrival, since 1970; nil when no pair has one
	LastUS       *int64         `json:"last_us"`
	InWindow     int            `json:"in_window"` // of them between the two
	Copied       int            `json:"copied"`    // ids that stand for several calls here: not paired
	Statuses     map[string]int `json:"statuses"`
	Vantages     []string       `json:"vantages"`
	TTFTKinds    []string       `json:"ttft_kinds"`
	InputTokens  *int64         `json:"input_tokens"`    // of the pairs where both runs tell; nil when none does
	OutputTokens *int64         `json:"output_tokens"`   // of these, the ones that finished well in both
	CachedShare  *float64       `json:"cached_share"`    // of the input tokens, where both runs tell what came from cache
	SendLagP99   *float64       `json:"send_lag_p99_ms"` // replay: how late the client was
	Client       *ClientCheck   `json:"client"`          // replay: what the client can do; nil for a log, and when it was never measured
}

func (x *comparing) describe(s *sideRows, of picker) *Side {
	d := &Side{Requests: len(s.rows), Client: s.client(), Statuses: map[string]int{}, Vantages: []string{}, TTFTKinds: []string{}}
	var lags []float64
	for i := range s.rows { // by id
		r := &s.rows[i]
		d.Statuses[r.status]++
		if r.copied && (i == 0 || s.rows[i-1].id != r.id) {
			d.Copied++
		}
		d.Vantages, d.TTFTKinds = addNew(d.Vantages, r.vantage), addNew(d.TTFTKinds, r.kind)
		if r.lag != nil {
			lags = append(lags, float64(*r.lag)/1e3)
		}
	}
	d.SendLagP99 = quantileOf(lags, .99)
	slices.Sort(d.Vantages)
	slices.Sort(d.TTFTKinds)
	x.describePairs(d, s, of)
	return d
}

func (x *comparing) describePairs(d *Side, s *sideRows, of picker) {
	var cached, input int64
	for _, p := range x.pairs {
		r := of(p)
		if p.base.input != nil && p.cand.input != nil {
			d.InputTokens = plus(d.InputTokens, *r.input)
			if p.base.cached != nil && p.cand.cached != nil {
				input, cached = input+*r.input, cached+*r.cached
			}
		}
		if bothLatency(p) && p.base.output != nil && p.cand.output != nil {
			d.OutputTokens = plus(d.OutputTokens, *r.output)
		}
		if a := r.arrival; a != nil {
			if d.FirstUS == nil || *a < *d.FirstUS {
				d.FirstUS = a
			}
			if d.LastUS == nil || *a > *d.LastUS {
				d.LastUS = a
			}
		}
	}
	d.CachedShare = ratioOf(float64(cached), float64(input))
	for i := range s.rows {
		if a := s.rows[i].arrival; a != nil && d.FirstUS != nil && *a >= *d.FirstUS && *a <= *d.LastUS {
			d.InWindow++
		}
	}
}

func addNew(list []string, s string) []string {
	if s == "" || slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// plus adds to a sum that is nil as long as nothing is known.
func plus(sum *int64, v int64) *int64 {
	v += deref(sum)
	return &v
}

// ratioOf is nil when the divisor is 0.
func ratioOf(a, b float64) *float64 {
	if b == 0 {
		return nil
	}
	r := a / b
	return &r
}

func names(list []string) string {
	if len(list) == 0 {
		return "unknown"
	}
	return strings.Join(list, ", ")
}
