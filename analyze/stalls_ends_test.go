package analyze

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"reprise/ingest/trace"
)

// The form that knows only start, first token and end, against loops over all pairs.
func TestEndsAgainstOracle(t *testing.T) {
	e := newEngine(t)
	params := map[string]string{"chunk_times": "false"}
	maps.Copy(params, oracleFits)
	for seed := range uint64(3) {
		rows := randomTraffic(rand.New(rand.NewPCG(seed, 45)))
		lost, inflicted := map[string]float64{}, map[string]float64{}
		for _, group := range byReplica(rows) {
			windows := oracleWindows(group)
			for _, r := range group {
				if r.FirstUS == nil {
					continue
				}
				us, tokens, sum := oracleEnds(r, group, windows)
				lost[r.RequestID] = us
				for id, n := range tokens {
					if n > 0 {
						inflicted[id] += us * n / sum
					}
				}
			}
		}
		run := writeRun(t, rows)
		got := viewRows(t, e, run, "SELECT request_id, lost_us FROM stall_victims WHERE form = 'ends'", params)
		if len(got) != len(lost) {
			t.Fatalf("seed %d: %d streams, want %d", seed, len(got), len(lost))
		}
		for _, row := range got {
			if us := float64(row[1].(int64)); math.Abs(us-lost[row[0].(string)]) > 1 {
				t.Errorf("seed %d: %v lost %v us, want %v", seed, row[0], us, lost[row[0].(string)])
			}
		}
		for _, row := range viewRows(t, e, run, "SELECT request_id, sum(inflicted_us) FROM blamed GROUP BY request_id", params) {
			if us := float64(row[1].(int64)); math.Abs(us-inflicted[row[0].(string)]) > 5 {
				t.Errorf("seed %d: %v cost others %v us, want %v", seed, row[0], us, inflicted[row[0].(string)])
			}
		}
	}
}

// oracleEnds estimates what one stream lost, and which prompts were prefilled meanwhile with how many tokens.
func oracleEnds(r *trace.Request, group []*trace.Request, windows []oracleWindow) (lostUS float64, tokens map[string]float64, sum float64) {
	decode := span{firstAt(r), *r.Arrival + *r.LastUS}
	length := float64(decode.to - decode.from)
	others := 0.0
	for _, o := range group {
		if o != r && o.FirstUS != nil {
			others += float64(decode.overlap(span{firstAt(o), *o.Arrival + *o.LastUS})) / length
		}
	}
	tokens = map[string]float64{}
	for _, w := range windows {
		n := w.tokens * float64(w.fitted.overlap(decode)) / float64(w.fitted.to-w.fitted.from)
		tokens[w.r.RequestID] = n
		sum += n
	}
	return min(length, max(0, oraclePace+oracleLoad*others)*sum), tokens, sum
}

// What must hold on any traffic (metrics.md 9).
func TestStallInvariants(t *testing.T) {
	e := newEngine(t)
	rows := randomTraffic(rand.New(rand.NewPCG(1, 9)))
	const perGap = `SELECT request_id, k, gap_us, baseline_us, excess_us, covered_us, lost_us, coalesce(label, '') AS label FROM stall_gaps ORDER BY ALL`
	base := viewRows(t, e, writeRun(t, rows), perGap, oracleFits)
	lost := int64(0)
	for _, row := range base {
		gap, baseline, excess, covered, l := row[2].(int64), row[3].(float64), row[4].(int64), row[5].(int64), row[6].(int64)
		if l > min(excess, covered) || l < 0 || float64(gap-l) < min(float64(gap), math.Floor(baseline)) {
			t.Errorf("gap %v: lost %d of excess %d, covered %d, baseline %v", row[:2], l, excess, covered, baseline)
		}
		lost += l
	}
	blamed := viewRows(t, e, writeRun(t, rows), `SELECT sum(inflicted_us), count(*) FROM blamed`, oracleFits)[0]
	if d := lost - blamed[0].(int64); lost == 0 || d > blamed[1].(int64) || -d > blamed[1].(int64) {
		t.Errorf("blame adds up to %v us, lost are %d", blamed[0], lost)
	}
	same := func(what string, got [][]any) {
		t.Helper()
		if fmt.Sprint(got) != fmt.Sprint(base) {
			t.Errorf("%s changes the gaps", what)
		}
	}
	shuffled := slices.Clone(rows)
	rand.New(rand.NewPCG(3, 3)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	same("the order of rows", viewRows(t, e, writeRun(t, shuffled), perGap, oracleFits))
	later := slices.Clone(rows)
	for i := range later {
		later[i].Arrival = trace.Ptr(*later[i].Arrival + 12345678901)
	}
	same("a shift in time", viewRows(t, e, writeRun(t, later), perGap, oracleFits))
	same("the split by replica", splitByReplica(t, e, rows, perGap))
}

// splitByReplica runs the text on each replica's requests alone and merges the answers in their order.
func splitByReplica(t *testing.T, e *Engine, rows []trace.Request, text string) [][]any {
	var out [][]any
	for _, group := range byReplica(rows) {
		var own []trace.Request
		for _, r := range group {
			own = append(own, *r)
		}
		out = append(out, viewRows(t, e, writeRun(t, own), text, oracleFits)...)
	}
	slices.SortFunc(out, func(a, b []any) int {
		if a[0] != b[0] {
			if a[0].(string) < b[0].(string) {
				return -1
			}
			return 1
		}
		return int(a[1].(int64) - b[1].(int64))
	})
	return out
}
