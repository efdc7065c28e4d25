package reports

import (
	"bytes"
	"strings"
	"testing"

	"reprise/analyze"
)

func tableText(t *testing.T, r *analyze.Result, o TextOptions) string {
	t.Helper()
	var b bytes.Buffer
	if err := TableText(&b, r, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTableText(t *testing.T) {
	golden(t, "latency.txt", []byte(tableText(t, latencyResult(), TextOptions{})))
	golden(t, "latency-narrow.txt", []byte(tableText(t, latencyResult(), TextOptions{Width: 100, Rows: 2})))
}

func TestReportText(t *testing.T) {
	var b bytes.Buffer
	if err := WriteText(&b, everything(), TextOptions{Rows: 4}); err != nil {
		t.Fatal(err)
	}
	golden(t, "everything.txt", b.Bytes())
}

// Nothing that a terminal would obey may come from a name, with colours or without.
func TestNoControlCharacters(t *testing.T) {
	var plainOut, colourOut bytes.Buffer
	if err := WriteText(&plainOut, everything(), TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := WriteText(&colourOut, everything(), TextOptions{Colour: true}); err != nil {
		t.Fatal(err)
	}
	if i := strings.IndexFunc(plainOut.String(), func(r rune) bool { return r < ' ' && r != '\n' || r == '\u202e' || r == '\u2028' }); i >= 0 {
		t.Errorf("control character in %q", plainOut.String()[i:i+20])
	}
	ours := strings.NewReplacer("\x1b[0m", "", "\x1b[1m", "", "\x1b[2m", "", "\x1b[31m", "")
	if got := ours.Replace(colourOut.String()); got != plainOut.String() {
		t.Error("colours change more than colours")
	}
	if !strings.Contains(colourOut.String(), "\x1b[31mTTFT p99 is 4.91 s") {
		t.Error("the answer of a bad verdict is not red")
	}
}

// Columns align by runes: every row of a table has its last right-aligned column end at one place.
func TestAlignment(t *testing.T) {
	r := &analyze.Result{Title: "T", Columns: cols(1, "grp", "text", "p50", "ms"),
		Rows: [][]any{{"é日本語", 1.5}, {"plain", 12345.0}, {"x", nil}}}
	lines := strings.Split(tableText(t, r, TextOptions{}), "\n")
	for _, l := range lines[1:6] {
		if n := len([]rune(l)); n != len([]rune(lines[1])) {
			t.Errorf("line %q is %d runes long, want %d", l, n, len([]rune(lines[1])))
		}
	}
}

// ANA-03: six rows do not carry a p99, nor a p90; 1000 carry a p99 and no p99.9; without n nothing is claimed.
func TestPercentilesOfFewRows(t *testing.T) {
	for _, c := range []struct {
		n    int64
		q    float64
		want string
	}{
		{6, .99, markNone}, {6, .9, markNone}, {6, .5, markLow}, {20, .5, ""}, {19, .5, markLow},
		{99, .99, markNone}, {100, .99, markLow}, {999, .99, markLow}, {1000, .99, ""},
		{1000, .999, markLow}, {9999, .999, markLow}, {10000, .999, ""},
	} {
		if got := supportMark(c.n, c.q, true); got != c.want {
			t.Errorf("n=%d q=%g: mark %q, want %q", c.n, c.q, got, c.want)
		}
	}
	r := latencyResult()
	r.Rows = r.Rows[2:3]
	if out := tableText(t, r, TextOptions{}); !strings.Contains(out, "330!") || !strings.Contains(out, "! not supported by the sample") {
		t.Errorf("p99 of six rows is not marked:\n%s", out)
	}
	r.Columns[2].Name = "some"
	if out := tableText(t, r, TextOptions{}); strings.Contains(out, "330!") {
		t.Error("a percentile without n is marked")
	}
}

func TestEmptyResult(t *testing.T) {
	r := latencyResult()
	r.Rows, r.Warnings = nil, nil
	if out := tableText(t, r, TextOptions{}); !strings.Contains(out, "the query found no rows") {
		t.Error(out)
	}
	r.Coverage = analyze.Coverage{Requests: 40, Excluded: map[string]int64{"failed": 40}}
	if out := tableText(t, r, TextOptions{}); !strings.Contains(out, "none of the 40 requests can be measured this way") {
		t.Error(out)
	}
	r.Coverage = analyze.Coverage{}
	if out := tableText(t, r, TextOptions{}); !strings.Contains(out, "no requests in this time range") {
		t.Error(out)
	}
}

// On a terminal nothing of the first screen is longer than its lines, no word is lost, and what goes on is indented.
func TestFirstScreenFits(t *testing.T) {
	r := Report{Title: "T", Subtitle: strings.Repeat("sub ", 30), Answer: []string{strings.Repeat("answer ", 30)}, Notes: []string{strings.Repeat("note ", 40) + strings.Repeat("x", 200)},
		Figures: []Figure{{"TTFT", "p50 1 ms", "n 1"}, {"long", strings.Repeat("value ", 5), strings.Repeat("why ", 30)}}}
	for _, limit := range []int{40, 80, 200} {
		var b bytes.Buffer
		if err := WriteText(&b, r, TextOptions{Width: limit}); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if n := width(strings.TrimSuffix(line, "\n")); n > limit {
				t.Errorf("%d runes at a width of %d: %q", n, limit, line)
			}
		}
		for word, n := range map[string]int{"answer": 30, "sub": 30, "why": 30, "value": 5, "note": 41} {
			if got := strings.Count(b.String(), word); got != n {
				t.Errorf("width %d: %d times %q, want %d", limit, got, word, n)
			}
		}
		if strings.Count(b.String(), "x") != 200 {
			t.Errorf("width %d: a long word lost letters", limit)
		}
	}
}
