package reports

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"reprise/analyze"
)

// cases reads JUnit XML by its element names alone, as a CI system does: name, then what became of the case.
func junitCases(t *testing.T, text string) (cases map[string]string, counts map[string]string) {
	t.Helper()
	cases, counts = map[string]string{}, map[string]string{}
	d, name := xml.NewDecoder(strings.NewReader(text)), ""
	for {
		tok, err := d.Token()
		if err == io.EOF {
			return cases, counts
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		start, ok := tok.(xml.StartElement)
		if !ok {
			continue
		}
		attr := map[string]string{}
		for _, a := range start.Attr {
			attr[a.Name.Local] = a.Value
		}
		switch start.Name.Local {
		case "testsuite":
			counts = attr
		case "testcase":
			name = attr["name"]
			cases[name] = "passed"
		case "failure", "skipped":
			cases[name] = start.Name.Local
			if attr["message"] == "" {
				t.Errorf("%s: no message", name)
			}
		}
	}
}

func TestJUnit(t *testing.T) {
	var out strings.Builder
	if err := WriteJUnit(&out, comparison()); err != nil {
		t.Fatal(err)
	}
	cases, counts := junitCases(t, out.String())
	want := map[string]string{"comparable": "passed", "failures": "skipped", "attainment": "failure", "ttft_p50": "passed", "ttft_p95": "passed", "ttft_p99": "skipped",
		"tpot_p50": "passed", "tpot_p99": "failure"} // max_gap decides nothing
	if diff := gocmp.Diff(want, cases); diff != "" || counts["tests"] != "8" || counts["failures"] != "2" || counts["skipped"] != "2" || counts["errors"] != "0" {
		t.Errorf("%v\n%s", counts, diff)
	}
	if strings.Contains(out.String(), "<script") || strings.Contains(out.String(), "\x1b") {
		t.Errorf("a hostile name got through:\n%s", out.String())
	}
}

// Runs that do not compare are one failed case, with the reasons and what would help.
func TestJUnitNotComparable(t *testing.T) {
	c := comparison()
	c.Comparable, c.Verdict, c.WhyNot, c.WouldHelp, c.Metrics = false, analyze.NotComparable, []string{"the replay of the base run is invalid: late & <late>"}, []string{"replay again"}, nil
	var out strings.Builder
	if err := WriteJUnit(&out, c); err != nil {
		t.Fatal(err)
	}
	cases, counts := junitCases(t, out.String())
	if diff := gocmp.Diff(map[string]string{"comparable": "failure"}, cases); diff != "" || counts["tests"] != "1" || counts["failures"] != "1" {
		t.Errorf("%v\n%s", counts, diff)
	}
	for _, s := range []string{"late &amp; &lt;late&gt;", "replay again"} {
		if !strings.Contains(out.String(), s) {
			t.Errorf("no %q in\n%s", s, out.String())
		}
	}
	if a := answerOf(c); len(a) != 3 || !strings.Contains(a[2], "replay again") {
		t.Errorf("%q", a)
	}
}

// The noise floor stands beside every figure and in the answer.
func TestNoiseInReport(t *testing.T) {
	c := comparison()
	ratio := 1.05
	c.Noise = &analyze.Noise{Run: "runs/again", Comparable: true, Verdict: analyze.NonInferior, Demoted: []string{"ttft_p99"}}
	c.Metrics[0].Noise = &analyze.NoiseDelta{Ratio: &ratio, CI: &[2]float64{.9, 1.2}}
	text := noiseLine(c)
	if want := "Noise floor (runs/h100 against runs/again, the same target twice): non-inferior, at most ttft p50 by +5 %; within it, so undecided: ttft p99."; text != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
	var out strings.Builder
	if err := WriteText(&out, BuildComparison(c), TextOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"same ratio", "1.050", text} {
		if !strings.Contains(out.String(), s) {
			t.Errorf("no %q in the report", s)
		}
	}
}
