package analyze

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"reprise/ingest/trace"
)

const minuteUS = 60_000_000

// burnCall is what the oracle knows of a call.
type burnCall struct {
	at  int64
	bad bool
}

// oracleAlerts walks over every minute of the log and counts the windows anew, as metrics.md 3.6 says.
func oracleAlerts(calls []burnCall, budget float64, days int64) [][]any {
	first, last := calls[0].at, calls[0].at
	for _, c := range calls {
		first, last = min(first, c.at), max(last, c.at)
	}
	end := (last/minuteUS + 1) * minuteUS
	out := [][]any{}
	for _, r := range []struct {
		name               string
		long, short, spend int64 // minutes, per cent
	}{{"1h/5m", 60, 5, 2}, {"3d/6h", 72 * 60, 360, 10}, {"6h/30m", 360, 30, 5}} {
		threshold := float64(r.spend*days*24*60) / float64(100*r.long)
		var start int64
		var peak float64
		for at := first/minuteUS*minuteUS + minuteUS; at <= end; at += minuteUS {
			long, longBad := countBetween(calls, at-r.long*minuteUS, at)
			short, shortBad := countBetween(calls, at-r.short*minuteUS, at)
			burn := float64(longBad) / (float64(long) * budget)
			firing := at-r.long*minuteUS >= first && shortBad >= 10 && burn > threshold && float64(shortBad)/(float64(short)*budget) > threshold
			if firing && start == 0 {
				start, peak = at, 0
			}
			if firing {
				peak = max(peak, burn)
			}
			if start != 0 && (!firing || at == end) {
				n, bad := countBetween(calls, start-r.long*minuteUS, at)
				used := float64(bad) / (float64(n) * budget) * float64(at-start+r.long*minuteUS) / (float64(days) * 864e8)
				out = append(out, []any{"all", r.name, start, at, firing, peak, int64(n), int64(bad), used})
				start = 0
			}
		}
	}
	return out
}

func countBetween(calls []burnCall, from, to int64) (n, bad int) {
	for _, c := range calls {
		if c.at >= from && c.at < to {
			n++
			if c.bad {
				bad++
			}
		}
	}
	return n, bad
}

// TestAlertsAgainstOracle lays bursts of bad calls over days of traffic, with silences, and walks over every minute.
func TestAlertsAgainstOracle(t *testing.T) {
	e := newEngine(t)
	slo, err := ParseSLO("e2e<=1s@90%")
	if err != nil {
		t.Fatal(err)
	}
	fired := map[string]int{}
	for seed := range uint64(5) {
		rng := rand.New(rand.NewPCG(seed, 36))
		base := int64(1_795_000_000_000_000) + rng.Int64N(minuteUS)
		span := int64(30+rng.IntN(12)) * 3600e6
		if seed%3 == 0 {
			span += 72 * 3600e6
		}
		var calls []burnCall
		var rows []trace.Request
		add := func(at int64, bad bool) {
			calls = append(calls, burnCall{at, bad})
			end := int64(1_000_000)
			if bad {
				end++
			}
			id := fmt.Sprint("b", len(rows))
			rows = append(rows, trace.Request{RequestID: id, RootRequestID: id, Attempt: 1, Arrival: trace.Ptr(at), EndUS: &end, ErrorClass: trace.ClassOK,
				Vantage: trace.Client, ClockDomain: trace.Wall, TimePrecision: 1, SourceFormat: "test"})
		}
		for range 400 {
			add(base+rng.Int64N(span), rng.IntN(30) == 0)
		}
		for range 5 {
			from, length := base+rng.Int64N(span), (1+rng.Int64N(90))*minuteUS
			for range 10 + rng.IntN(40) {
				add(min(from+rng.Int64N(length), base+span), rng.IntN(5) > 0)
			}
		}
		run := writeRun(t, rows)
		for _, days := range []int64{5, 30} {
			res, err := e.Query(context.Background(), run, "alerts", Scope{SLO: slo}, map[string]string{"period_days": fmt.Sprint(days)})
			if err != nil {
				t.Fatal(err)
			}
			got := append([][]any{}, cells(t, res, []string{"grp", "rule", "start_us", "end_us", "open", "peak_burn", "n", "bad", "budget_used"})...)
			want := oracleAlerts(calls, .1, days)
			if diff := gocmp.Diff(want, got, gocmp.Comparer(near)); diff != "" {
				t.Fatalf("seed %d, %d days (-want +got):\n%s", seed, days, diff)
			}
			for _, a := range want {
				fired[a[1].(string)]++
			}
		}
	}
	if len(fired) != 3 {
		t.Errorf("not every rule fired, which tests nothing: %v", fired)
	}
}

// TestBurnExample is EX-3.3: with 1500 of 10,000 bad in the hour, 100 of 1000 bad in the last five minutes are no page, 160
// are.
func TestBurnExample(t *testing.T) {
	e := newEngine(t)
	slo, err := ParseSLO("e2e<=1s@99%")
	if err != nil {
		t.Fatal(err)
	}
	for recent, page := range map[int]bool{100: false, 160: true} {
		var rows []trace.Request
		for i := range 10_000 {
			at, end := int64(i)*(55*minuteUS/9000), int64(1)
			if i >= 9000 {
				at = 55*minuteUS + int64(i-9000)*(5*minuteUS/1000)
			}
			if i < 1500-recent || i >= 10_000-recent {
				end = 2_000_000
			}
			id := fmt.Sprint("x", i)
			rows = append(rows, trace.Request{RequestID: id, RootRequestID: id, Attempt: 1, Arrival: &at, EndUS: &end, ErrorClass: trace.ClassOK,
				Vantage: trace.Client, ClockDomain: trace.Wall, TimePrecision: 1, SourceFormat: "test"})
		}
		run := writeRun(t, rows)
		last := runQuery(t, e, run, "burn_rate", Scope{SLO: slo}, nil)
		for _, row := range last {
			if row["rule"] != "1h/5m" || row["at_us"] != int64(60*minuteUS) {
				continue
			}
			if !near(*number(row["burn"]), 15) || !near(*number(row["short_burn"]), float64(recent)/10) || row["firing"] != page {
				t.Errorf("%d recent: %v", recent, row)
			}
		}
		alerts := runQuery(t, e, run, "alerts", Scope{SLO: slo}, nil)
		if page != (len(alerts) == 1) || page && !near(*number(alerts[0]["budget_used"]), .02083333333333333) {
			t.Errorf("%d recent: alerts %v", recent, alerts)
		}
	}
}
