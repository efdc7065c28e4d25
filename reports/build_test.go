package reports

import (
	"bytes"
	"strings"
	"testing"

	"reprise/analyze"
)

// incidentStory is the first story of the design: two incidents, an objective missed, a log without chunk times.
func incidentStory() AnalyzeInput {
	in := AnalyzeInput{Run: "gateway.jsonl.gz", Scope: "from 2026-11-24", Results: map[string]*analyze.Result{},
		SLO:     analyze.SLO{Text: "ttft<=1s,tpot<=60ms@99%", Objective: .99, Terms: []analyze.Term{{Metric: "ttft", Bound: 1_000_000, Objective: .99}, {Metric: "tpot", Bound: 60_000, Objective: .99}}},
		Missing: map[string]string{"token_gaps": "this log has no chunk times"},
		Incidents: []analyze.Incident{
			{From: 1795512660000000, To: 1795512780000000, Eligible: 9000, Bad: 311, Expected: .01, Cause: "unexplained", Text: "the load was not larger than outside: look at the engine"},
			{From: 1795528920000000, To: 1795530000000000, Eligible: 61330, Bad: 18204, Expected: .01, Cause: "long_prompts", Text: "long prompts of tenant acme (78 % of the extra load)", Tenant: "acme"},
		},
		Next: []string{"reprise query stall_culprits gateway.jsonl.gz"}}
	add := func(r *analyze.Result) {
		r.Coverage = covered()
		in.Results[r.Query] = r
	}
	add(&analyze.Result{Query: "overview", Title: "Overview", Columns: append(cols(1, "grp", "text"), cols(0, "n", "requests", "calls", "requests", "ok", "requests", "failed", "requests",
		"cancelled", "requests", "first_arrival_us", "time", "last_arrival_us", "time", "input_tokens", "tokens")...),
		Rows: [][]any{{"all", int64(1281006), int64(1280950), int64(1276106), int64(4100), int64(800), int64(1795478400000000), int64(1795564799000000), int64(4123456789)}}})
	latency := latencyResult()
	latency.Columns = cols(2, "metric", "text", "grp", "text", "n", "samples", "n_total", "samples", "mean", "ms", "p50", "ms", "p90", "ms", "p95", "ms", "p99", "ms", "p99_9", "ms", "max", "ms")
	latency.Rows = [][]any{
		{"e2e", "all", int64(1276106), int64(1276106), 4000.0, 3500.0, 8000.0, 9000.5, 20000.0, 31000.0, 64000.0},
		{"tpot", "all", int64(800), int64(1276106), 34.5, 31.25, 49.9, 58.0, 112.0, 310.5, 612.125},
		{"ttft", "all", int64(1190221), int64(1276106), 498.2, 212.0, 802.5, 1402.5, 4912.734, 9120.25, 12001.0},
	}
	latency.Chart = "bar x=metric y=p50,p95,p99"
	add(latency)
	add(&analyze.Result{Query: "goodput", Title: "Goodput", Columns: append(cols(1, "grp", "text"), cols(0, "n", "requests", "good", "requests", "bad", "requests", "attainment", "share",
		"ttft_attainment", "share", "tpot_attainment", "share", "e2e_attainment", "share", "goodput_ratio", "share")...),
		Rows: [][]any{{"all", int64(1280950), int64(1102899), int64(178051), .861, .88, .952, nil, .71}}})
	add(&analyze.Result{Query: "decode_stalls", Title: "Decode time lost", Columns: cols(3, "grp", "text", "form", "text", "start_us", "time", "streams", "requests", "decode_s", "s",
		"excess_s", "s", "lost_s", "s", "lost_share", "share"), Chart: "line x=start_us y=lost_s,excess_s",
		Rows: [][]any{{"all", "ends", nil, int64(1100000), 50123.4, nil, 4461.0, .089}}})
	over := timeResult()
	add(over)
	return in
}

func TestBuildText(t *testing.T) {
	var b bytes.Buffer
	if err := WriteText(&b, Build(incidentStory()), TextOptions{Rows: 5}); err != nil {
		t.Fatal(err)
	}
	golden(t, "incident.txt", b.Bytes())
}

// The answer comes first: the worst incident with its cause, the other one, the objective. 18204/61330 is 29.68 %.
func TestAnswerOfIncidents(t *testing.T) {
	r := Build(incidentStory())
	want := []string{
		"From 2026-11-24 14:02 to 14:20 UTC 18,204 of 61,330 requests missed the objective (29.7 %; 1 % expected); likely cause: long prompts of tenant acme (78 % of the extra load).",
		"From 2026-11-24 09:31 to 09:33 UTC 311 of 9,000 requests missed the objective (3.5 %; 1 % expected); likely cause: the load was not larger than outside: look at the engine.",
		"86.1 % [86.0, 86.2] of 1,280,950 judged calls met ttft<=1s,tpot<=60ms@99%: the objective of 99 % is missed.",
	}
	if r.Verdict != "bad" || strings.Join(r.Answer, "\n") != strings.Join(want, "\n") {
		t.Errorf("verdict %q, answer\n%s", r.Verdict, strings.Join(r.Answer, "\n"))
	}
	if want := "cannot say: token gaps (this log has no chunk times)"; len(r.Notes) != 1 || r.Notes[0] != want {
		t.Errorf("notes %q", r.Notes)
	}
}

// The exact test of metrics.md 2.3 decides (EX-2.6: of 1000 under 99 %, pass up to 4 bad, fail from 16); the interval is
// Wilson's (EX-2.5: 990 of 1000 is 98.17 to 99.46 %; the others by Python from the formula).
func TestObjective(t *testing.T) {
	for _, c := range []struct {
		bad     int64
		verdict string
		answer  string
	}{
		{4, "good", "99.60 % [98.98, 99.84] of 1,000 judged calls met ttft<=1s,tpot<=60ms@99%: the objective of 99 % is kept."},
		{10, "unsure", "99.00 % [98.17, 99.46] of 1,000 judged calls met ttft<=1s,tpot<=60ms@99%: the objective of 99 % is neither missed nor kept for sure (too few calls)."},
		{16, "bad", "98.40 % [97.42, 99.01] of 1,000 judged calls met ttft<=1s,tpot<=60ms@99%: the objective of 99 % is missed."},
	} {
		in := incidentStory()
		in.Incidents = nil
		row := in.Results["goodput"].Rows[0]
		row[2], row[3] = 1000-c.bad, c.bad
		r := Build(in)
		if r.Verdict != c.verdict || r.Answer[0] != c.answer {
			t.Errorf("%d bad: verdict %q, answer %q", c.bad, r.Verdict, r.Answer[0])
		}
	}
}

// A log without first tokens can judge only its failures: that is not a missed objective.
func TestMostlySilentLog(t *testing.T) {
	in := incidentStory()
	in.Incidents = nil
	r := in.Results["goodput"]
	r.Columns = cols(1, "grp", "text", "good", "requests", "bad", "requests", "unevaluable", "requests")
	r.Rows = [][]any{{"all", int64(0), int64(2), int64(8)}}
	want := "0.0 % [0.0, 65.8] of 2 judged calls met ttft<=1s,tpot<=60ms@99%: the objective of 99 % is not decided, since 8 calls cannot be judged: the log does not tell what it asks for."
	if got := Build(in); got.Verdict != "unsure" || got.Answer[0] != want {
		t.Errorf("verdict %q, answer %q", got.Verdict, got.Answer[0])
	}
	r.Rows = [][]any{{"all", int64(500), int64(500), int64(8)}}
	if got := Build(in); got.Verdict != "bad" || !strings.HasSuffix(got.Answer[0], "is missed; 8 calls cannot be judged.") {
		t.Errorf("verdict %q, answer %q", got.Verdict, got.Answer[0])
	}
}

// One bad call of a small group does not stand for all: acme has 224 bad calls where 10 are allowed.
func TestWorstGroup(t *testing.T) {
	in := incidentStory()
	in.Incidents = nil
	r := in.Results["goodput"]
	row := func(grp string, good, bad int64) []any {
		return []any{grp, good + bad, good, bad, nil, nil, nil, nil, nil}
	}
	r.Rows = [][]any{row("acme", 776, 224), row("tiny", 0, 1), row("fine", 1000, 0)}
	if got := Build(in); got.Verdict != "bad" || !strings.HasPrefix(got.Answer[0], "2 of 3 groups miss the objective. Most bad calls beyond it has acme: 77.6 % [") {
		t.Errorf("verdict %q, answer %q", got.Verdict, got.Answer[0])
	}
}

// RPT-03: what is unknown is n/a on the first screen, and no figure stands without its n.
func TestUnknownFigures(t *testing.T) {
	in := incidentStory()
	for _, row := range in.Results["latency"].Rows {
		row[2] = int64(0)
		for c := 4; c < len(row); c++ {
			row[c] = nil
		}
	}
	row := in.Results["goodput"].Rows[0]
	row[2], row[3], row[4] = int64(0), int64(0), nil
	in.Results["decode_stalls"].Rows[0][7] = nil
	r := Build(in)
	for _, f := range r.Figures {
		if strings.Contains(f.Value, " 0 ") || strings.HasPrefix(f.Value, "0") || f.Note == "" {
			t.Errorf("figure %+v", f)
		}
		if f.Name == "TTFT" && f.Value != "p50 n/a   p95 n/a   p99 n/a" || f.Name == "stalls" && f.Value != "n/a" || f.Name == "goodput" && f.Value != "no request can be judged" {
			t.Errorf("figure %+v", f)
		}
	}
	if r := Build(AnalyzeInput{Run: "empty"}); len(r.Answer) != 1 || r.Answer[0] != "No latency can be measured in this log." {
		t.Errorf("answer %q", r.Answer)
	}
}

// The share of decode time lost is of that whose lost part is known: 19 s are 14.7 % of 129 s, not of the 237 s of all streams. What came in bursts has no cost
// of a prefill to miss.
func TestStallsFigure(t *testing.T) {
	columns := []analyze.Column{{Name: "form"}, {Name: "streams"}, {Name: "decode_s"}, {Name: "lost_s"}, {Name: "lost_share"}}
	for _, v := range views(&analyze.Result{Columns: columns, Rows: [][]any{
		{"ends", int64(185), 237.2, 18.9, 0.147}, {"chunks", int64(7), 50.0, 0.0, 0.0}, {"chunks", int64(7), 50.0, nil, nil}, {"buffered", int64(3), nil, nil, nil}}}) {
		want := map[string]string{"ends": "estimated from start, first token and end; 18.9 s of 129 s, 185 streams", "buffered": "3 streams came in bursts, which say nothing of it",
			"chunks": "from chunk gaps; 0 s of 50 s, 7 streams"}[v.text("form")]
		if v.text("form") == "chunks" && v.num("lost_s") == nil {
			want = "the cost of a prefill is not known"
		}
		if got := stallsFigure(v).Note; got != want {
			t.Errorf("note %q, want %q", got, want)
		}
	}
}

// The evidence of an incident stands beside it, and is left to the page: a terminal has no room.
func TestIncidentEvidence(t *testing.T) {
	in := incidentStory()
	in.Incidents[1].Diff = barResult()
	sections := Build(in).Sections
	if s := sections[1]; s.ID != "incident-1" || s.Title != "What was different 2026-11-24 14:02 to 14:20 UTC" || !s.PageOnly || s.Result == nil {
		t.Errorf("section %+v", s)
	}
}

// Charts over time show where the incidents were.
func TestIncidentsAreShaded(t *testing.T) {
	for _, s := range Build(incidentStory()).Sections {
		if s.ID == "latency_over_time" && (len(s.Charts) != 1 || len(s.Charts[0].Spans) != 2) {
			t.Errorf("charts %+v", s.Charts)
		}
		if s.ID == "latency" && s.Charts[0].Kind != "dots" {
			t.Error("bars of 31 ms beside bars of 20 s")
		}
		if s.ID == "decode_stalls" && (len(s.Charts) > 0 || s.NoChart != "") {
			t.Errorf("a result without steps in time is drawn: %q", s.NoChart)
		}
	}
}
