package analyze

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"testing"

	"reprise/ingest"
	"reprise/ingest/decode"
)

// The capture of testdata/truth: llama.cpp behind LiteLLM, nine minutes. From plan second 210 to 310 tenant borealis
// sends long documents. The engine's own log says when it worked on each prompt: engine-baseline.jsonl.gz.
const planStartUS = 1795961900313390

var incident = Scope{From: new(int64(planStartUS + 210e6)), To: new(int64(planStartUS + 310e6))}

func ingested(t *testing.T, paths ...string) *Run {
	t.Helper()
	dir := t.TempDir()
	o := ingest.Options{Options: decode.Options{Hash: decode.NewHasher([]byte("test"))}, Run: dir}
	if _, err := ingest.Run(context.Background(), o, paths...); err != nil {
		t.Fatal(err)
	}
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// engineWindow is when the engine worked on a prompt, by its own log, in the client's time.
type engineWindow struct {
	id, tenant string
	span
}

// engineWindows ends a window when the first token was made, at release less the time of generation. Both clocks are
// set against each other by the median of first chunk - end.
func engineWindows(t *testing.T, requests [][]any) []engineWindow {
	t.Helper()
	first, tenants := map[string]int64{}, map[string]string{}
	for _, row := range requests {
		tenants[row[0].(string)], _ = row[1].(string)
		if at, ok := row[2].(int64); ok {
			first[row[0].(string)] = at
		}
	}
	var out []engineWindow
	var late []int64
	readLines(t, "../testdata/truth/engine-baseline.jsonl.gz", func(line []byte) {
		var task struct {
			ID          string
			Release     float64  `json:"release_unix_us"`
			PromptMS    *float64 `json:"prompt_ms"`
			PredictedMS float64  `json:"predicted_ms"`
		}
		if err := json.Unmarshal(line, &task); err != nil {
			t.Fatal(err)
		}
		if task.PromptMS == nil {
			return
		}
		end := task.Release - 1e3*task.PredictedMS
		out = append(out, engineWindow{task.ID, tenants[task.ID], span{int64(end - 1e3**task.PromptMS), int64(end)}})
		if at, ok := first[task.ID]; ok {
			late = append(late, at-int64(end))
		}
	})
	slices.Sort(late)
	for i := range out {
		out[i].from, out[i].to = out[i].from+late[len(late)/2], out[i].to+late[len(late)/2]
	}
	return out
}

func readLines(t *testing.T, path string, each func([]byte)) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(z)
	for lines.Scan() {
		each(lines.Bytes())
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}

// truth is what the client's gaps lost while the engine worked on prompts, by the engine's windows.
type truth struct {
	lostUS     float64
	inIncident float64            // of streams that began in the incident
	byTenant   map[string]float64 // inflicted on them
	stalls     map[string]bool    // gaps that are stalls by prefill
	p99        float64            // of gaps without prefill
}

func engineTruth(t *testing.T, e *Engine, r *Run) truth {
	t.Helper()
	windows := engineWindows(t, viewRows(t, e, r, "SELECT request_id, tenant, arrival_us + ttft_us FROM requests", nil))
	var gaps []*oracleGap
	ids := map[*oracleGap]string{}
	arrivals := map[*oracleGap]int64{}
	rows := viewRows(t, e, r, `SELECT g.request_id, k, gap_us, g.end_us, weight, usual_weight, q.arrival_us,
  (SELECT count(*) FROM requests AS s WHERE s.arrival_us + s.ttft_us <= g.end_us - gap_us AND s.arrival_us + s.last_us > g.end_us - gap_us)
  FROM gaps AS g JOIN requests AS q ON q.request_id = g.request_id ORDER BY ALL`, nil)
	for _, row := range rows {
		end := row[3].(int64)
		g := &oracleGap{span: span{end - row[2].(int64), end}, streams: int(row[7].(int64)), load: max(1, float64(row[4].(int64))/row[5].(float64))}
		gaps, ids[g], arrivals[g] = append(gaps, g), fmt.Sprint(row[0], " ", row[1]), row[6].(int64)
	}
	near := func(s span) (spans []span, tenants []string) {
		for _, w := range windows {
			if w.overlap(s) > 0 {
				spans, tenants = append(spans, w.span), append(tenants, w.tenant)
			}
		}
		return spans, tenants
	}
	pools := map[int][]int64{}
	for _, g := range gaps {
		spans, _ := near(g.span)
		g.covered = union(g.span, spans)
		if g.covered < 100 {
			pools[g.streams] = append(pools[g.streams], g.length())
		}
	}
	usual := map[int]float64{}
	for n, pool := range pools {
		usual[n] = middle(pool)
	}
	out := truth{byTenant: map[string]float64{}, stalls: map[string]bool{}}
	var without []float64
	for _, g := range gaps {
		m := usual[g.streams]
		g.excess = max(0, g.length()-int64(m*g.load))
		lost := float64(min(g.excess, g.covered))
		out.lostUS += lost
		without = append(without, float64(g.length())-lost)
		over := float64(g.length()) - m
		out.stalls[ids[g]] = float64(g.length()) > 3*m && over >= 1e5 && float64(g.excess) >= .5*over && lost >= .5*float64(g.excess)
		if at := arrivals[g]; lost > 0 && at >= *incident.From && at < *incident.To {
			out.inIncident += lost
			spans, tenants := near(g.span)
			sum := 0.0
			for _, s := range spans {
				sum += float64(s.overlap(g.span))
			}
			for i, s := range spans {
				out.byTenant[tenants[i]] += lost * float64(s.overlap(g.span)) / sum
			}
		}
	}
	slices.Sort(without)
	out.p99 = without[len(without)*99/100]
	return out
}

// agrees fails when got is not within share of want.
func agrees(t *testing.T, what string, got, want, share float64) {
	t.Helper()
	if math.Abs(got-want) > share*want {
		t.Errorf("%s: %.3f, the engine says %.3f", what, got, want)
	}
}

// onlyRow is the value of a column in the only row of a query.
func onlyRow(t *testing.T, e *Engine, r *Run, query, column string, sc Scope) float64 {
	t.Helper()
	res, err := e.Query(context.Background(), r, query, sc, nil)
	if err != nil {
		t.Fatal(err)
	}
	rows := cells(t, res, []string{column})
	if len(rows) != 1 {
		t.Fatalf("%s: %d rows, want 1", query, len(rows))
	}
	v, _ := rows[0][0].(float64)
	return v
}

// culprits are the seconds that the prompts of each tenant cost the streams of the incident, the worst first.
func culprits(t *testing.T, e *Engine, r *Run) (seconds map[string]float64, order []string) {
	t.Helper()
	res, err := e.Query(context.Background(), r, "stall_blame", incident, nil)
	if err != nil {
		t.Fatal(err)
	}
	seconds = map[string]float64{}
	for _, row := range cells(t, res, []string{"culprit", "inflicted_s"}) {
		seconds[row[0].(string)] += row[1].(float64)
	}
	order = slices.SortedFunc(maps.Keys(seconds), func(a, b string) int { return cmp.Compare(seconds[b], seconds[a]) })
	return seconds, order
}

func TestIncidentFromChunkTimes(t *testing.T) {
	e := newEngine(t)
	r := ingested(t, "../testdata/truth/baseline.jsonl.gz")
	want := engineTruth(t, e, r)
	agrees(t, "seconds lost", onlyRow(t, e, r, "decode_stalls", "lost_s", Scope{}), want.lostUS/1e6, .1)
	agrees(t, "seconds lost in the incident", onlyRow(t, e, r, "decode_stalls", "lost_s", incident), want.inIncident/1e6, .1)
	seconds, order := culprits(t, e, r)
	if !slices.Equal(order, []string{"borealis", "acme", "cobalt"}) {
		t.Errorf("culprits %v", order)
	}
	agrees(t, "seconds that borealis cost", seconds["borealis"], want.byTenant["borealis"]/1e6, .1)
	agrees(t, "seconds that acme cost", seconds["acme"], want.byTenant["acme"]/1e6, .2)

	res, err := e.Query(context.Background(), r, "gap_counterfactual", Scope{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	agrees(t, "P99 of gaps without prefill", cells(t, res, []string{"p99"})[1][0].(float64), want.p99/1e3, .1)
	checkLabels(t, e, r, want)

	// a statement of the user's own knows the cost of a prefill too
	own, err := e.SQL(context.Background(), r, Scope{}, "SELECT sum(lost_us) / 1e6 AS lost_s FROM stall_gaps")
	if err != nil {
		t.Fatal(err)
	}
	agrees(t, "seconds lost, own statement", cells(t, own, []string{"lost_s"})[0][0].(float64), want.lostUS/1e6, .1)
}

// checkLabels compares the stalls said to come from prefill with those that do.
func checkLabels(t *testing.T, e *Engine, r *Run, want truth) {
	t.Helper()
	p, err := e.Prefill(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	said, right, all := 0.0, 0.0, 0.0
	for _, row := range viewRows(t, e, r, "SELECT request_id, k FROM stall_gaps WHERE label = 'prefill'", map[string]string{"fits": p.text}) {
		said++
		if want.stalls[fmt.Sprint(row[0], " ", row[1])] {
			right++
		}
	}
	for _, stalled := range want.stalls {
		if stalled {
			all++
		}
	}
	if right/said < .93 || right/all < .85 {
		t.Errorf("stalls by prefill: %v said, %v of them right, %v in truth; want precision .93, recall .85", said, right, all)
	}
}

// The gateway's log has no chunk times: first token and end alone must name the same culprit.
func TestIncidentFromGatewayLog(t *testing.T) {
	e := newEngine(t)
	want := engineTruth(t, e, ingested(t, "../testdata/truth/baseline.jsonl.gz"))
	r := ingested(t, "../testdata/demo/baseline.litellm.jsonl.zst")
	agrees(t, "seconds lost", onlyRow(t, e, r, "decode_stalls", "lost_s", Scope{}), want.lostUS/1e6, .2)
	agrees(t, "seconds lost in the incident", onlyRow(t, e, r, "decode_stalls", "lost_s", incident), want.inIncident/1e6, .2)
	seconds, order := culprits(t, e, r)
	if len(order) == 0 || order[0] != "borealis" || seconds["borealis"] < 3*seconds[order[1]] {
		t.Errorf("culprits %v", seconds)
	}
	agrees(t, "seconds that borealis cost", seconds["borealis"], want.byTenant["borealis"]/1e6, .2)
	res, err := e.Query(context.Background(), r, "decode_stalls", Scope{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if form := cells(t, res, []string{"form"})[0][0]; form != "ends" || len(res.Warnings) != 1 || res.Warnings[0].Code != "ends_only" {
		t.Errorf("form %v, warnings %v; want ends and a word that it is an estimate", form, res.Warnings)
	}
}
