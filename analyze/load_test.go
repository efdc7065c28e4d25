package analyze

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"reprise/ingest/trace"
)

// TestConcurrencyOracle counts who is in progress at every microsecond (metrics.md 1.3) and compares peak, mean and busy
// share, of the whole and in steps, with the queries; with and without a range, whatever the order of the rows.
func TestConcurrencyOracle(t *testing.T) {
	e := newEngine(t)
	for seed := range uint64(8) {
		rng := rand.New(rand.NewPCG(seed, 13))
		rows := randomSpans(rng, 60)
		o := loadOracle{rows: rows, bin: 7 + rng.Int64N(40)}
		if seed%2 == 1 {
			o.from, o.to = trace.Ptr(100+rng.Int64N(50)), trace.Ptr(250+rng.Int64N(50))
		}
		rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		for _, query := range []string{"concurrency", "concurrency_over_time"} {
			params := map[string]string{}
			want := o.whole()
			if query == "concurrency_over_time" {
				want, params["bin_us"] = o.steps(), fmt.Sprint(o.bin)
			}
			sc := Scope{From: o.from, To: o.to, By: []string{"replica"}}
			res, err := e.Query(context.Background(), writeRun(t, rows), query, sc, params)
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(want, res.Rows, cmpopts.EquateApprox(1e-12, 0)); diff != "" {
				t.Fatalf("seed %d, %s from %v to %v: differs from the oracle (-want +got):\n%s", seed, query, o.from, o.to, diff)
			}
		}
	}
}

// randomSpans makes calls of whole microseconds from 100 to 400, many with equal edges, some of no duration or no end.
func randomSpans(rng *rand.Rand, n int) []trace.Request {
	rows := make([]trace.Request, n)
	for i := range rows {
		r := &rows[i]
		*r = trace.Request{RequestID: fmt.Sprint("q", i), Attempt: 1, SourceFormat: "test", Vantage: trace.Gateway, ClockDomain: trace.Wall,
			ErrorClass: pick(rng, trace.ClassOK, trace.ClassTimeout), Arrival: trace.Ptr(100 + 5*rng.Int64N(40)), Replica: pick(rng, "a", "b")}
		r.RootRequestID = r.RequestID
		if rng.IntN(8) > 0 {
			r.EndUS = trace.Ptr(5 * rng.Int64N(12))
		}
	}
	return rows
}

type loadOracle struct {
	rows     []trace.Request
	from, to *int64
	bin      int64
}

// inRange says whether the query may see the call: it arrived in the range.
func (o loadOracle) inRange(r *trace.Request) bool {
	return o.from == nil || *r.Arrival >= *o.from && *r.Arrival < *o.to
}

// covered is the range, else from the first arrival to the last end.
func (o loadOracle) covered() (from, to int64) {
	if o.from != nil {
		return *o.from, *o.to
	}
	from, to = 1<<60, 0
	for i := range o.rows {
		r := &o.rows[i]
		from, to = min(from, *r.Arrival), max(to, *r.Arrival)
		if r.EndUS != nil {
			to = max(to, *r.Arrival+*r.EndUS)
		}
	}
	return from, to
}

// level counts the calls of a replica in progress during the microsecond that begins at t.
func (o loadOracle) level(replica string, t int64) (n int64) {
	for i := range o.rows {
		r := &o.rows[i]
		if r.Replica == replica && r.EndUS != nil && o.inRange(r) && *r.Arrival <= t && t < *r.Arrival+*r.EndUS {
			n++
		}
	}
	return n
}

// stretch looks at each microsecond of [from, to).
func (o loadOracle) stretch(replica string, from, to int64) (peak, sum, busy int64) {
	for t := from; t < to; t++ {
		n := o.level(replica, t)
		peak, sum, busy = max(peak, n), sum+n, busy+min(n, 1)
	}
	return peak, sum, busy
}

func (o loadOracle) whole() [][]any {
	var out [][]any
	from, to := o.covered()
	for _, replica := range []string{"a", "b"} {
		var n, total int64
		for i := range o.rows {
			if r := &o.rows[i]; r.Replica == replica && o.inRange(r) {
				total++
				if r.EndUS != nil {
					n++
				}
			}
		}
		peak, sum, busy := o.stretch(replica, from, to)
		length := float64(to - from)
		out = append(out, []any{replica, n, total, peak, float64(sum) / length, float64(busy) / length})
	}
	return out
}

func (o loadOracle) steps() [][]any {
	var out [][]any
	from, to := o.covered()
	for _, replica := range []string{"a", "b"} {
		for start := from - from%o.bin; start < to; start += o.bin {
			peak, sum, _ := o.stretch(replica, max(start, from), min(start+o.bin, to))
			out = append(out, []any{replica, start, peak, float64(sum) / float64(o.bin)})
		}
	}
	return out
}
