package reports

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"reprise/analyze"
)

// migration is the comparison of the fixtures with what both runs tell besides. The base stalls little, the candidate much.
func migration() *analyze.Migration {
	c := comparison()
	c.Sides["base"].FirstUS, c.Sides["base"].LastUS = ptr(int64(1795392000000000)), ptr(int64(1795392000000000+600e6))
	c.Within = []analyze.PairDelta{{Metric: "ttft", N: 4600, Faster: 3450, Slower: 1150, MuchWorse: 46, P5: -300, P25: -60, Median: -31, MedianCI: [2]float64{-33, -29}, P75: 1, P95: 25}}
	c.Lengths = []analyze.GroupDelta{{Group: "under 256 tokens", Pairs: 900, Metrics: []analyze.Delta{deltaOf("tpot", .99, 110, 150, 1.2, 1.5, analyze.Worse)}}}
	m := &analyze.Migration{Comparison: c}
	for i, v := range [][4]any{{int64(100), int64(12), 112.0, 100.0}, {int64(200), int64(148), 138.0, 101.0}} {
		m.Runs[i] = analyze.MigrationSide{Results: map[string]*analyze.Result{
			"decode_stalls": {Query: "decode_stalls", Columns: cols(2, "grp", "text", "form", "text", "stalled", "gaps", "stalled_prefill", "gaps"), Rows: [][]any{{"all", "chunks", v[0], v[1]}}},
			"gap_counterfactual": {Query: "gap_counterfactual", Columns: cols(2, "grp", "text", "variant", "text", "n", "gaps", "p99", "ms"),
				Rows: [][]any{{"all", "observed", int64(9000), v[2]}, {"all", "without prefill", int64(9000), v[3]}}},
			"errors": {Query: "errors", Columns: cols(2, "grp", "text", "status", "text", "n", "requests"), Rows: [][]any{{"all", "failed" + hostile, int64(3)}}},
			"cost":   {Query: "cost", Columns: cols(1, "grp", "text", "per_million_good", "$"), Rows: [][]any{{"all", 0.4 + 0.1*float64(i)}}},
		}}
	}
	m.Runs[0].Sweep, m.Runs[1].Sweep = sweepOf("runs/prod", .99, .95, .5), sweepOf("runs/prod", .999, .99, .97)
	return m
}

// sweepOf has loads of 1, 2, 3 times 10 requests/s with these attainments.
func sweepOf(base string, attained ...float64) *analyze.Sweep {
	s := &analyze.Sweep{Base: base, Objective: "ttft<=1s"}
	for i, a := range attained {
		x, wait := float64(i+1), 100*float64(i+1)
		s.Add(analyze.SweepRung{Speed: x, State: analyze.RungMeasured, Verdict: "FAITHFUL", Why: []string{}, Judged: 1000, Offered: 6000, To: 600_000_000, OfferedPS: ptr(10 * x), Attainment: &a,
			Low: ptr(a - .01), High: ptr(a + .001), TTFTP50: &wait, TTFTP95: ptr(2 * wait), TTFTP99: ptr(3 * wait), GoodTokens: ptr(1000 * x * a)})
	}
	return s
}

func migrationReport() Report {
	return BuildMigration(MigrationInput{SLO: analyze.SLO{Text: "ttft<=1s,tpot<=60ms@99%"}, By: []string{"tenant"}, Case: migration(), Next: []string{"reprise sweep " + hostile}})
}

func TestMigrationText(t *testing.T) {
	var b bytes.Buffer
	if err := WriteText(&b, migrationReport(), TextOptions{}); err != nil {
		t.Fatal(err)
	}
	golden(t, "migration.txt", b.Bytes())
}

// By hand from the fixture: 12 of 100 and 148 of 200 stalled gaps lie in prefills. The base keeps 99 % at the load of 1 and no more, the
// candidate up to 2 times: twice the load. $0.4 to $0.5 is a quarter more.
func TestMigrationAnswer(t *testing.T) {
	r := migrationReport()
	for _, want := range []string{"WORSE: tpot p99 worse: +23 % [+18, +29], 112 ms → 138 ms",
		"Why: of the stalled chunk gaps 12 % lie in other requests' prefills in the base and 74 % in the candidate; without prefills the p99 of the gaps would go from 100 ms to 101 ms, where it goes from 112 ms to 138 ms.",
		"At 99 % good requests the candidate carries 2 times the load of the base."} {
		if !slices.ContainsFunc(r.Answer, func(s string) bool { return strings.HasPrefix(s, want) }) {
			t.Errorf("no %q in %q", want, r.Answer)
		}
	}
	for name, want := range map[string]string{"capacity": "1 x → 2 x", "cost": "$0.400 → $0.500"} {
		i := slices.IndexFunc(r.Figures, func(f Figure) bool { return f.Name == name })
		if i < 0 || r.Figures[i].Value != want {
			t.Errorf("%s: %+v, want %s", name, r.Figures, want)
		}
	}
}

// What a run cannot tell removes its section and says why; what could still be wrong is then longer by that.
func TestMigrationOfThinLogs(t *testing.T) {
	m := migration()
	m.Groups, m.Lengths, m.Within = nil, nil, nil
	for i := range m.Runs {
		m.Runs[i] = analyze.MigrationSide{Missing: map[string]string{"decode_stalls": "no replica", "gap_counterfactual": "this log has no chunk times", "cost": "no price was given", "errors": "no requests"}}
	}
	r := BuildMigration(MigrationInput{By: []string{"tenant"}, Case: m})
	for id, want := range map[string]string{"decode_stalls": "no replica", "gap_counterfactual": "this log has no chunk times", "cost": "no price was given", "groups": "no tenant has 30 pairs: not enough data",
		"lengths": "no band of prompt lengths has 30 pairs: not enough data", "within_pairs": "no metric is known on both sides of a pair", "capacity": "a comparison at one load cannot say"} {
		i := slices.IndexFunc(r.Sections, func(s Section) bool { return s.ID == id })
		if i < 0 || !strings.HasPrefix(r.Sections[i].Missing, want) || r.Sections[i].Charts != nil {
			t.Errorf("%s: missing %q, want %q", id, r.Sections[max(i, 0)].Missing, want)
		}
	}
	doubts := r.Sections[len(r.Sections)-1].Result.Rows
	if !slices.ContainsFunc(doubts, func(row []any) bool { return row[0] == "one load only" }) || !slices.ContainsFunc(doubts, func(row []any) bool { return row[0] == "chance between runs" }) {
		t.Errorf("%v", doubts)
	}
	// one side alone is shown, and the other's reason beside it
	m.Runs[1] = migration().Runs[1]
	s := sidesSection(m, "decode_stalls", "T")
	if s.Missing != "" || len(s.Result.Rows) != 1 || s.Result.Rows[0][0] != "candidate" || s.Result.Warnings[0].Message != "base: no replica" {
		t.Errorf("%+v", s)
	}
}

// Of runs that do not compare, no section shows a figure over the pairs.
func TestMigrationNotComparable(t *testing.T) {
	m := migration()
	m.Comparable, m.WhyNot, m.Verdict = false, []string{"other load"}, analyze.NotComparable
	r := BuildMigration(MigrationInput{Case: m})
	for _, s := range r.Sections {
		if slices.Contains([]string{"figures", "within_pairs", "groups", "lengths", "distributions"}, s.ID) && s.Missing == "" {
			t.Errorf("%s shows figures", s.ID)
		}
	}
	if !strings.HasPrefix(r.Answer[0], "NOT COMPARABLE: other load") {
		t.Errorf("%q", r.Answer)
	}
}
