package reports

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"reprise/analyze"
)

func TestComparisonText(t *testing.T) {
	var b bytes.Buffer
	if err := WriteText(&b, BuildComparison(comparison()), TextOptions{}); err != nil {
		t.Fatal(err)
	}
	golden(t, "comparison.txt", b.Bytes())
}

// The first sentence is the verdict and what made it, with interval; 137.8/112 is +23.0 %.
func TestComparisonAnswer(t *testing.T) {
	r := BuildComparison(comparison())
	want := "WORSE: tpot p99 worse: +23 % [+18, +29], 112 ms → 138 ms; ttft p50 better: -15.1 % [-17, -13], 212 ms → 180 ms; ttft p95 better: -31 % [-35, -27], 1.40 s → 967 ms"
	if r.Answer[0] != want || r.Verdict != "bad" {
		t.Errorf("verdict %s, answer %q", r.Verdict, r.Answer[0])
	}
	if want := "Good requests (ttft<=1s,tpot<=60ms@99%): 96.2 % → 91.8 % of 4,700 pairs, worse (304 turned bad, 92 turned good)."; r.Answer[1] != want {
		t.Errorf("answer %q", r.Answer[1])
	}
	if want := "Gaps over 100 ms between chunks: 900 → 1,204 over the same requests, worse."; r.Answer[2] != want {
		t.Errorf("answer %q", r.Answer[2])
	}
}

// A change by a factor is not said in hundreds of per cent; half is a factor too.
func TestRatioText(t *testing.T) {
	for want, c := range map[string][3]float64{"+23 % [+18, +29]": {1.23, 1.18, 1.29}, "x 6.71 [3.02, 13]": {6.714, 3.023, 12.97}, "x 0.4 [0.3, 0.55]": {.4, .3, .55},
		"-31 % [-35, -27]": {.69, .65, .73}, "x 1,235 [2, 20,000]": {1234.6, 2, 20000}, "+90 % [+0, +2,900]": {1.9, 1, 30}} {
		if got := ratioText(c[0], c[1], c[2]); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// What is worse without a latency that is, and what is known of no latency, is said; the verdict does not deny itself.
func TestReasonWithoutLatency(t *testing.T) {
	c := comparison()
	c.Metrics = slices.DeleteFunc(c.Metrics, func(d analyze.Delta) bool { return d.Verdict == analyze.Worse || d.Verdict == analyze.Better })
	if got, want := reason(c), "good requests worse: 96.2 % → 91.8 %"; !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	c.Metrics, c.SLO, c.Verdict, c.Failures.Verdict = nil, nil, analyze.Inconclusive, analyze.NonInferior
	if got, want := reason(c), "no latency is known in both runs"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if s := figuresSection(c); s.Missing != "no metric is known on both sides of a pair" {
		t.Errorf("figures: %q", s.Missing)
	}
	c.ToBad, c.ToGood = 1234, 5
	if s := turnedSection(c); len(s.Result.Warnings) != 1 || s.Result.Warnings[0].Message != "1,234 turned bad and 5 good; 1 of them are listed" || !strings.HasPrefix(s.Result.About, "Pairs that ended well in one run only") {
		t.Errorf("%q %+v", s.Result.About, s.Result.Warnings)
	}
}

// RPT-05, RPT-07: runs that got another load have no figures, and the first sentence says why.
func TestNotComparable(t *testing.T) {
	c := comparison()
	c.Comparable, c.Verdict, c.WhyNot = false, analyze.NotComparable, []string{"the candidate got 0.73 times the request rate of the base (limit 0.95 to 1.05)"}
	r := BuildComparison(c)
	if !strings.HasPrefix(r.Answer[0], "NOT COMPARABLE: the candidate got 0.73 times") || r.Verdict != "bad" {
		t.Errorf("answer %q", r.Answer)
	}
	for _, s := range r.Sections {
		if s.ID != "fairness" && (s.Missing == "" || len(s.Charts) > 0) {
			t.Errorf("section %q is shown", s.ID)
		}
	}
	page := string(page1(t, r))
	if strings.Contains(page, "<script") || strings.Contains(page, "137.8") {
		t.Error("the page shows figures of runs that cannot be compared")
	}
}

// A verdict without the load check would be about nothing: fairness is the first section.
func TestComparisonOrder(t *testing.T) {
	var got []string
	for _, s := range BuildComparison(comparison()).Sections {
		got = append(got, s.ID)
	}
	if want := "fairness figures slo distributions long_gaps groups turned"; strings.Join(got, " ") != want {
		t.Errorf("sections %q, want %q", got, want)
	}
}

func TestComparisonInBrowser(t *testing.T) {
	b := newBrowser(t)
	dom, talk := b.run(b.write("page.html", page1(t, BuildComparison(comparison()))), "--dump-dom")
	if lines := consoleLine.FindAllString(talk, -1); len(lines) > 0 {
		t.Errorf("console: %q", lines)
	}
	if !strings.Contains(dom, `data-charts="4"`) || strings.Count(dom, "<svg") != 4 {
		t.Errorf("charts are not drawn: %.200s", dom)
	}
	// The interval of tpot p99 is drawn in the colour of a bad verdict.
	for _, want := range []string{`stroke="#c0312b" stroke-width="3"`, `stroke="#1a7f4b" stroke-width="3"`, ">no change</text>", ">candidate / base (ratio)</text>"} {
		if !strings.Contains(dom, want) {
			t.Errorf("the drawn page has no %q", want)
		}
	}
	assertOnlyOurElements(t, scriptBody.ReplaceAllString(dom, ""))
}
