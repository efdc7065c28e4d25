package analyze

import (
	"context"
	"fmt"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"reprise/ingest/trace"
)

// twoWeeks has a call every ten minutes of two weeks from a Monday on, of two routes in turn. In the second week every
// fifth call of route chat is bad (its tenant is acme), and nothing arrives on Wednesday from 10:00 to 12:00.
func twoWeeks(monday int64) []trace.Request {
	var rows []trace.Request
	for i := range 2 * 7 * 24 * 6 {
		at := monday - weekMicros + int64(i)*600e6
		if in := at - monday; in >= 58*hourMicros && in < 60*hourMicros {
			continue
		}
		first, end := int64(200_000), int64(1_000_000)
		route, tenant := "batch", "beta"
		if i%2 == 0 {
			route = "chat"
			if i%10 == 0 {
				tenant = "acme"
				if at >= monday {
					first, end = 2_000_000, 3_000_000
				}
			}
		}
		id := fmt.Sprint("w", i)
		rows = append(rows, trace.Request{RequestID: id, RootRequestID: id, Attempt: 1, Arrival: &at, FirstUS: &first, EndUS: &end, LastUS: &end, Stream: trace.Ptr(true),
			OutputTokens: trace.Ptr(int64(81)), ErrorClass: trace.ClassOK, Vantage: trace.Client, ClockDomain: trace.Wall, TimePrecision: 1, SourceFormat: "test", Route: route, Tenant: tenant})
	}
	return rows
}

const monday47 = 1_795_392_000_000_000 - 7*86400*1_000_000 // 2026-11-16T00:00Z

func TestWeekly(t *testing.T) {
	slo, err := ParseSLO("ttft<=1s@90%")
	if err != nil {
		t.Fatal(err)
	}
	e, run := newEngine(t), writeRun(t, twoWeeks(monday47))
	w, err := e.Weekly(context.Background(), run, WeeklyOptions{From: monday47, By: []string{"route"}, SLO: slo, Seed: 1,
		Hardware: Hardware{"price_gpu_hour": 3, "gpus_per_replica": 2, "replicas": 1}})
	if err != nil {
		t.Fatal(err)
	}
	// 504 calls of each route a week; the two silent hours take 6 of each; of chat's 498 the indexes divisible by ten
	bad := 0
	for _, r := range twoWeeks(monday47) {
		if *r.FirstUS > 1_000_000 {
			bad++
		}
	}
	chat, batch := w.Groups[0], w.Groups[1]
	if chat.Name != "chat" {
		chat, batch = batch, chat
	}
	if chat.This.Good+chat.This.Bad != 498 || chat.This.Bad != int64(bad) || batch.This.Bad != 0 || batch.This.Good != 498 || chat.Last.Good != 504 || chat.Last.Bad != 0 {
		t.Errorf("counts: %+v %+v", chat.This, batch.This)
	}
	if chat.This.Met != "fail" || batch.This.Met != "pass" || !near(*chat.This.Left, 1-float64(bad)/49.8) || *batch.This.Left != 1 {
		t.Errorf("objective: %+v %v, %+v", chat.This, *chat.This.Left, batch.This)
	}
	if chat.Verdict != Worse || chat.CI[1] >= 0 || !near(chat.Diff, -float64(bad)/498) || batch.Verdict != Unclear || batch.Diff != 0 {
		t.Errorf("change: %+v, %+v", chat.ShareChange, batch.ShareChange)
	}
	if diff := gocmp.Diff([][2]int64{{monday47 + 58*hourMicros, monday47 + 60*hourMicros}}, w.Silent); diff != "" {
		t.Errorf("silent hours: %s", diff)
	}
	if len(w.Parts) != 2 || w.Parts[0].Name != "acme" || w.Parts[0].OfBad != 1 || !near(w.Parts[0].Extra, float64(bad)) || w.Parts[1].Name != "chat" {
		t.Errorf("parts: %+v", w.Parts)
	}
	// 6 an hour for two GPUs; the last call of the week arrives after 167 h 50 min and takes 1 s
	hours := float64(w.Seen[1]-w.Seen[0]) / hourMicros
	if want := 6 * hours / (996 * 81) * 1e6; !near(costOf(t, w.Results["cost"]), want) || !near(hours, 167+50./60+1./3600) {
		t.Errorf("cost %v over %v h, want %v", costOf(t, w.Results["cost"]), hours, want)
	}
	for _, d := range w.Latency {
		want := map[string]float64{"chat": 2000, "batch": 200}[d.Group]
		if d.Metric == "ttft" && d.Quantile == .99 && (!near(d.This, want) || !near(d.Last, 200) || d.Group == "chat" && d.Verdict != Worse || d.Group == "batch" && d.Verdict != Unclear) {
			t.Errorf("%+v", d)
		}
	}
}

// TestWeeklyAlone: of the first week nothing is said about change, and of a week that the log does not reach nothing at all.
func TestWeeklyAlone(t *testing.T) {
	slo, err := ParseSLO("ttft<=1s@90%")
	if err != nil {
		t.Fatal(err)
	}
	e, run := newEngine(t), writeRun(t, twoWeeks(monday47))
	w, err := e.Weekly(context.Background(), run, WeeklyOptions{From: monday47 - weekMicros, SLO: slo})
	if err != nil {
		t.Fatal(err)
	}
	if g := w.Groups[0]; len(w.Groups) != 1 || g.Last != nil || g.ShareChange != nil || g.This.Good != 1008 || len(w.Parts) != 0 || len(w.Latency) != 0 || len(w.Skipped) != 0 {
		t.Errorf("first week: %+v", w)
	}
	w, err = e.Weekly(context.Background(), run, WeeklyOptions{From: monday47 + 4*weekMicros, SLO: slo})
	if err != nil || w.Seen[0] != w.Seen[1] || len(w.Groups) != 0 {
		t.Errorf("no such week: %+v, %v", w, err)
	}
}

// costOf adds up the groups.
func costOf(t *testing.T, r *Result) float64 {
	cost, tokens := 0.0, 0.0
	for _, row := range cells(t, r, []string{"cost", "output_tokens"}) {
		cost, tokens = cost+*number(row[0]), tokens+*number(row[1])
	}
	return cost / tokens * 1e6
}

// TestWeeklyCoverage: what one look says of both weeks is what a look at each of them says.
func TestWeeklyCoverage(t *testing.T) {
	slo, err := ParseSLO("ttft<=1s@90%")
	if err != nil {
		t.Fatal(err)
	}
	rows := twoWeeks(monday47)
	for i := range rows {
		switch i % 7 {
		case 1:
			rows[i].ErrorClass, rows[i].FirstUS = "timeout", nil
		case 2:
			rows[i].TTFTKind = []string{"chunk", "content"}[i/1000]
		}
	}
	e, run := newEngine(t), writeRun(t, rows)
	w, err := e.Weekly(t.Context(), run, WeeklyOptions{From: monday47, SLO: slo})
	if err != nil {
		t.Fatal(err)
	}
	for _, span := range [][2]int64{w.Seen, w.Last, {monday47 - weekMicros, monday47 + weekMicros}} {
		sc := Scope{From: &span[0], To: &span[1]}
		got, ok := e.seen[keyOf(run, sc)]
		want, err := newEngine(t).coverage(t.Context(), run, sc)
		if err != nil || !ok || want.Excluded["failed"] == 0 || len(want.kinds) < 2 {
			t.Fatalf("%v: looked at %v, %+v", err, ok, want)
		}
		if diff := gocmp.Diff(want, got, gocmp.AllowUnexported(seen{})); diff != "" {
			t.Errorf("%v: %s", span, diff)
		}
	}
}

// An alert that ends when the week begins is last week's: twelve bad calls in each minute from Sunday 23:50 on leave the window of five minutes when the last
// of these minutes, which ends at 23:55, does. The rules that look back longer still fire on Monday.
func TestWeeklyAlertsBefore(t *testing.T) {
	slo, err := ParseSLO("ttft<=1s@99%")
	if err != nil {
		t.Fatal(err)
	}
	rows := twoWeeks(monday47)
	for i := range 60 {
		bad := rows[0]
		bad.RequestID, bad.FirstUS, bad.EndUS, bad.LastUS = fmt.Sprint("late", i), new(int64(2_000_000)), new(int64(3_000_000)), new(int64(3_000_000))
		bad.RootRequestID, bad.Arrival = bad.RequestID, new(monday47-10*minuteMicros+int64(i)*5e6)
		rows = append(rows, bad)
	}
	w, err := newEngine(t).Weekly(context.Background(), writeRun(t, rows), WeeklyOptions{From: monday47, SLO: slo, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[any]bool{}
	for _, row := range w.Results["alerts"].Rows {
		seen[row[1]] = true
	}
	if seen["1h/5m"] || !seen["6h/30m"] {
		t.Errorf("alerts of the week: %v", w.Results["alerts"].Rows)
	}
}
