package analyze

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"reprise/ingest/trace"
)

func TestNotComparable(t *testing.T) {
	tr, rows := newTrial(t, "ttft<=1s"), traffic(200)
	base := tr.load(changed(rows, func(_ int, q *trace.Request) { q.AddQuality(trace.QIDDerived) }))
	for _, c := range []struct {
		name string
		f    func(i int, q *trace.Request)
		why  string
	}{
		{"other ids", func(i int, q *trace.Request) { q.RequestID = "x" + q.RequestID }, "no request id"},
		{"twice as fast", func(i int, q *trace.Request) { q.Arrival = trace.Ptr(*q.Arrival / 2) }, "request rate"},
		{"in bursts", func(i int, q *trace.Request) { q.Arrival = trace.Ptr(*rows[i/20*20].Arrival + int64(i%20)) }, "arrivals differ"},
		{"other prompts", func(i int, q *trace.Request) { q.InputTokens = trace.Ptr(*q.InputTokens * 3 / 2) }, "1.500 times the input tokens"},
		{"lines of two files", func(i int, q *trace.Request) { q.InputTokens = nil; q.AddQuality(trace.QIDDerived) }, "place in a file"},
		{"prompts in another order", func(i int, q *trace.Request) { q.InputTokens = rows[len(rows)-1-i].InputTokens }, "same input tokens"},
	} {
		got := tr.compare(base, tr.load(changed(rows, c.f)), CompareOptions{})
		if got.Comparable || got.Verdict != NotComparable || !got.GateFailed || !strings.Contains(strings.Join(got.WhyNot, "\n"), c.why) {
			t.Errorf("%s: verdict %s, why not %q; want %q", c.name, got.Verdict, got.WhyNot, c.why)
		}
		if len(got.Metrics)+len(got.LongGaps)+len(got.Curves) != 0 || got.SLO != nil {
			t.Errorf("%s: figures in spite of another load", c.name)
		}
	}
}

// The pairs alone look alike, but the base run served as many calls again that the candidate never saw.
func TestUnpairedLoadIsSeen(t *testing.T) {
	tr, rows := newTrial(t, ""), traffic(300)
	base := tr.load(rows)
	some := func(keep func(int) bool) *sideRows {
		var out []trace.Request
		for i, q := range rows {
			if keep(i) {
				out = append(out, q)
			}
		}
		return tr.load(out)
	}
	c := tr.compare(base, some(func(i int) bool { return i%2 == 0 }), CompareOptions{})
	if c.Comparable || !strings.Contains(strings.Join(c.WhyNot, " "), "the base run served 299 requests in the time of the pairs, of which 150 are paired") {
		t.Errorf("every other call: %q", c.WhyNot)
	}
	// 30 of 300 calls were lost: paired well enough, but no equal load (metrics.md part 6: a rate of .95 to 1.05)
	c = tr.compare(base, some(func(i int) bool { return i%10 != 3 }), CompareOptions{})
	if !c.Comparable || c.Pairs != 270 || !hasWarning(c, "other_traffic") {
		t.Errorf("a tenth lost: %q, %v", c.WhyNot, c.Warnings)
	}
	c = tr.compare(base, some(func(i int) bool { return i%25 != 3 }), CompareOptions{})
	if !c.Comparable || c.Pairs != 288 || hasWarning(c, "other_traffic") {
		t.Errorf("a twenty-fifth lost: %q, %v", c.WhyNot, c.Warnings)
	}
	c = tr.compare(base, some(func(i int) bool { return i < 150 }), CompareOptions{})
	if !c.Comparable || c.Pairs != 150 || c.Paired.BaseOnly != 150 {
		t.Errorf("first half: %q, %+v", c.WhyNot, c.Paired)
	}
	c = tr.compare(some(func(i int) bool { return i < 200 }), some(func(i int) bool { return i >= 100 }), CompareOptions{})
	if c.Comparable || !strings.Contains(c.WhyNot[0], "only 100 of the 200") {
		t.Errorf("half in common: %q", c.WhyNot)
	}
}

func TestCompareAnotherDay(t *testing.T) {
	rows := traffic(100)
	day := changed(rows, func(i int, q *trace.Request) { q.Arrival = trace.Ptr(*q.Arrival + 86_400_000_000 + int64(i%7)*1000) })
	from := *rows[20].Arrival
	c, err := Compare(context.Background(), newEngine(t), writeRun(t, checked(rows)), writeRun(t, checked(day)), CompareOptions{Scope: Scope{From: &from}})
	if err != nil {
		t.Fatal(err)
	}
	if !c.Comparable || c.Pairs != 80 || c.Verdict != NonInferior {
		t.Errorf("%s, %d pairs, %q; the range bounds the base run only", c.Verdict, c.Pairs, c.WhyNot)
	}
}

func TestWithheld(t *testing.T) {
	tr, rows := newTrial(t, "e2e<=3s@90%"), traffic(200)
	base := tr.load(rows)
	half := changed(rows, func(_ int, q *trace.Request) {
		n := len(q.GapsUS) / 2
		q.GapsUS, q.OutputTokens = q.GapsUS[:n], trace.Ptr(int64(n))
		settle(q)
	})
	c := tr.compare(base, tr.load(half), CompareOptions{})
	if why := absence(c, "e2e"); !strings.Contains(why, "times the output tokens") || !c.Comparable || c.SLO.Withheld != why {
		t.Errorf("e2e of shorter answers: %q, %q", why, c.WhyNot) // RPL-22
	}
	if find(c, "tpot", .5).Verdict != NonInferior || find(c, "ttft", .99).Diff != 0 || slices.Contains(c.Gate, "e2e_p50") {
		t.Errorf("tpot and ttft stay: gate %v", c.Gate)
	}
	c = tr.compare(base, tr.load(changed(rows, func(_ int, q *trace.Request) { q.TTFTKind = trace.TTFTBody })), CompareOptions{})
	if why := absence(c, "ttft"); !strings.Contains(why, trace.TTFTContent) || !strings.Contains(why, trace.TTFTBody) {
		t.Errorf("two meanings of first token: %q", why)
	}
}

func TestCompareWarns(t *testing.T) {
	tr, rows := newTrial(t, ""), traffic(120)
	base := tr.load(rows)
	plain := tr.compare(base, base, CompareOptions{})
	for code, f := range map[string]func(int, *trace.Request){
		"vantage":          func(_ int, q *trace.Request) { q.Vantage = trace.Gateway },                   // ANA-18
		"cache":            func(_ int, q *trace.Request) { q.CachedInputTokens = q.InputTokens },         // RPL-23
		"late_client":      func(i int, q *trace.Request) { q.SendLagUS = trace.Ptr(int64(i) * 100) },     // RPT-07
		"token_counts":     func(_ int, q *trace.Request) { q.AddQuality(trace.QTokensEstimated) },        // RPT-05
		"ids_repeat":       func(i int, q *trace.Request) { q.RequestID = fmt.Sprintf("q%04d", i-i/119) }, // the last two share one
		"arrivals_unknown": func(_ int, q *trace.Request) { q.Arrival = nil },
	} {
		c := tr.compare(base, tr.load(changed(rows, f)), CompareOptions{})
		if !hasWarning(c, code) || !c.Comparable {
			t.Errorf("%s: warnings %v, why not %q", code, c.Warnings, c.WhyNot)
		}
		if hasWarning(plain, code) {
			t.Errorf("%s: warned of a run compared with itself", code)
		}
	}
}

// ANA-03, RPT-03: what a log cannot tell is absent with a reason, never zero.
func TestCompareSilentLogs(t *testing.T) {
	tr, rows := newTrial(t, ""), traffic(200)
	endpoints := changed(rows, func(_ int, q *trace.Request) { q.GapsUS = nil })
	c := tr.compare(tr.load(rows), tr.load(endpoints), CompareOptions{})
	if why := absence(c, "chunk_gap"); why != "the candidate run does not speak of gaps: it has no chunk times" {
		t.Errorf("chunk gaps: %q", why)
	}
	if len(c.LongGaps) != 0 || absence(c, "max_gap") == "" || find(c, "ttft", .5).N != 200 {
		t.Errorf("gaps %v, absent %v", c.LongGaps, c.Absent)
	}
	unary := tr.load(changed(rows, func(_ int, q *trace.Request) {
		q.Stream, q.GapsUS, q.FirstUS, q.LastUS, q.TTFTKind = trace.Ptr(false), nil, nil, nil, ""
	}))
	c = tr.compare(unary, unary, CompareOptions{})
	if absence(c, "ttft") == "" || absence(c, "tpot") == "" || find(c, "e2e", .99).N != 200 || c.Verdict != NonInferior {
		t.Errorf("absent %v, verdict %s", c.Absent, c.Verdict)
	}
}

// What a replay wrote about itself decides: RPT-07.
func TestReplaysThatCannotBeTrusted(t *testing.T) {
	tr, rows := newTrial(t, ""), checked(traffic(20))
	base := tr.load(rows)
	for _, c := range []struct{ report, why, warning string }{
		{`{"incomplete":"interrupted","fidelity":{"verdict":"DEGRADED","reasons":["20 of 90 requests were sent"]}}`, "the candidate run is incomplete: interrupted", ""},
		{`{"fidelity":{"verdict":"INVALID","reasons":["late by 80 ms","drift"]}}`, "the replay of the candidate run is invalid: late by 80 ms; drift", ""},
		{`{"fidelity":{"verdict":"DEGRADED","reasons":["late by 8 ms"]}}`, "", "degraded"},
		{`{"fidelity":{"verdict":"FAITHFUL","reasons":[]}}`, "", ""},
	} {
		cut, err := tr.e.side(context.Background(), writeReplay(t, rows, c.report), Scope{})
		if err != nil {
			t.Fatal(err)
		}
		got := tr.compare(base, cut, CompareOptions{})
		if why := strings.Join(got.WhyNot, "\n"); why != c.why || hasWarning(got, "degraded") != (c.warning != "") {
			t.Errorf("%s: why not %q, warnings %v", c.report, why, got.Warnings)
		}
	}
}

// RPL-23: the second replay of the same prompts is quicker for what the first left in the cache.
func TestCompareWarmCache(t *testing.T) {
	tr, cold := newTrial(t, ""), checked(traffic(20))
	hot := checked(changed(traffic(20), func(_ int, q *trace.Request) { q.CachedInputTokens = q.InputTokens }))
	const plain, warm = `{"fidelity":{"verdict":"FAITHFUL"}}`, `{"fidelity":{"verdict":"DEGRADED","reasons":["warm"],"cache_warm":true}}`
	for _, c := range []struct {
		base, cand []trace.Request
		reports    [2]string
		who        string
	}{
		{cold, hot, [2]string{plain, warm}, "candidate"},
		{hot, cold, [2]string{warm, plain}, "base"},
		{cold, hot, [2]string{plain, plain}, ""}, // perhaps the candidate routes better
		{cold, hot, [2]string{warm, warm}, ""},
		{cold, cold, [2]string{plain, warm}, ""},
	} {
		var sides [2]*sideRows
		for i, rows := range [][]trace.Request{c.base, c.cand} {
			var err error
			if sides[i], err = tr.e.side(context.Background(), writeReplay(t, rows, c.reports[i]), Scope{}); err != nil {
				t.Fatal(err)
			}
		}
		got := tr.compare(sides[0], sides[1], CompareOptions{})
		want := c.who == "" || len(got.WhyNot) == 1 && strings.Contains(got.WhyNot[0], "in the "+c.who+" run alone: 100 % of the input tokens") &&
			slices.Contains(got.WouldHelp, helpSalt) && got.Verdict == NotComparable && !hasWarning(got, "cache")
		if got.Comparable != (c.who == "") || !want {
			t.Errorf("%s %v: why not %q, help %q", c.who, c.reports, got.WhyNot, got.WouldHelp)
		}
	}
}
