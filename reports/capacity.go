package reports

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"reprise/analyze"
)

// SweepInput is what [BuildSweep] makes a report of. Cand is the sweep of another target with the same traffic; nil without.
type SweepInput struct {
	Base, Cand *analyze.Sweep
	Names      [2]string // as the user named them
	Prices     [2]Price
	Notes      []string
	Next       []string
}

// Price is what a target costs an hour, and how many GPUs it has; the zero value is unknown.
type Price struct{ GPUs, Hour float64 }

// BuildSweep makes the report of a load sweep: how much load the target carries within the objective, where the wait begins
// to rise, what it costs there, and how each load was measured. With two sweeps it says which target carries more.
func BuildSweep(in SweepInput) Report {
	sweeps := in.sweeps()
	r := Report{Title: "Load sweep of " + strings.Join(in.names(), " and "), Notes: slices.Clone(in.Notes), Next: in.Next,
		Subtitle: fmt.Sprintf("objective %s; loads are multiples of the recorded one of %s", in.Base.Objective, in.Base.Base)}
	if len(sweeps) == 2 {
		if line := moreCapacity(in.Base, in.Cand); line != "" {
			r.Answer = append(r.Answer, line)
		}
		if in.Base.Objective != in.Cand.Objective {
			r.Notes = append(r.Notes, "the candidate was measured against another objective: "+in.Cand.Objective)
		}
		if in.Base.Base != in.Cand.Base {
			r.Notes = append(r.Notes, "the candidate was measured with other traffic: "+in.Cand.Base)
		}
	}
	for i, s := range sweeps {
		r.Answer = append(r.Answer, sweepAnswer(s, in.prefix(i))...)
		for _, w := range s.Warnings {
			r.Notes = append(r.Notes, in.prefix(i)+w.Message)
		}
	}
	r.Sections = []Section{in.capacities(), in.loads(), in.costs()}
	return r
}

func (in SweepInput) sweeps() []*analyze.Sweep {
	if in.Cand == nil {
		return []*analyze.Sweep{in.Base}
	}
	return []*analyze.Sweep{in.Base, in.Cand}
}

func (in SweepInput) names() []string { return in.Names[:len(in.sweeps())] }

// prefix names the target where there are two.
func (in SweepInput) prefix(i int) string {
	if in.Cand == nil {
		return ""
	}
	return in.role(i) + ": "
}

func (in SweepInput) role(i int) string { return []string{"base", "candidate"}[i] }

// sweepAnswer is capacity, knee and peak in words.
func sweepAnswer(s *analyze.Sweep, prefix string) (out []string) {
	say := func(format string, args ...any) { out = append(out, prefix+fmt.Sprintf(format, args...)) }
	for _, c := range s.Capacity {
		if c.Speed == nil {
			say("capacity at %g %%: unknown, no load was measured", 100*c.Attainment)
			continue
		}
		say("capacity at %g %%: %s", 100*c.Attainment, loadText(s, c))
	}
	if s.Knee != nil {
		say("knee: TTFT p95 begins to rise steeply at %g times the recorded load", *s.Knee)
	}
	if p := s.Peak; p != nil {
		more := ""
		if p.AtHighest {
			more = ", the highest load measured: there may be more above it"
		}
		say("most goodput: %s good tokens/s at %g times the recorded load%s", three(p.TokensPS), p.Speed, more)
	}
	return out
}

// boundWord stands before a capacity.
var boundWord = map[string]string{"exact": "", "at_most": "below ", "at_least": "at least "}

func loadText(s *analyze.Sweep, c analyze.LoadAtLevel) string {
	word := boundWord[c.Bound]
	text := fmt.Sprintf("%s%s times the recorded load", word, three(*c.Speed))
	if c.OfferedPS != nil {
		text += fmt.Sprintf(", %s%s requests/s", word, three(*c.OfferedPS))
	}
	if c.Bound == "exact" {
		text += " (" + known(s, c) + ")"
	}
	return text
}

// known says how far a capacity is one: measured itself, between two loads that were, or a bound.
func known(s *analyze.Sweep, c analyze.LoadAtLevel) string {
	if c.Bound != "exact" {
		return strings.ReplaceAll(orText(c.Bound, "unknown"), "_", " ")
	}
	below, above := math.Inf(-1), math.Inf(1)
	for _, r := range s.Rungs {
		switch {
		case r.State != analyze.RungMeasured:
		case math.Abs(r.Speed-*c.Speed) < 1e-9:
			return "measured"
		case r.Speed < *c.Speed:
			below = max(below, r.Speed)
		default:
			above = min(above, r.Speed)
		}
	}
	return fmt.Sprintf("on a line between %g and %g", below, above)
}

// moreCapacity compares at the highest attainment for which the two can be told apart; a bound makes the ratio a bound.
func moreCapacity(base, cand *analyze.Sweep) (text string) {
	for _, b := range slices.Backward(base.Capacity) {
		for _, c := range cand.Capacity {
			if c.Attainment != b.Attainment || b.Speed == nil || c.Speed == nil || *b.Speed <= 0 {
				continue
			}
			word, ok := ratioBound(b.Bound, c.Bound)
			if !ok {
				text = fmt.Sprintf("At %g %% good requests both capacities lie beyond the loads measured: which target carries more is not known.", 100*b.Attainment)
				continue
			}
			return fmt.Sprintf("At %g %% good requests the candidate carries %s%s times the load of the base.", 100*b.Attainment, word, three(*c.Speed / *b.Speed))
		}
	}
	return text
}

// ratioBound is the word for candidate / base when either is a bound; not ok when nothing can be said.
func ratioBound(base, cand string) (word string, ok bool) {
	switch {
	case base == "exact" && cand == "exact":
		return "", true
	case base != "at_least" && cand != "at_most":
		return "at least ", true
	case base != "at_most" && cand != "at_least":
		return "at most ", true
	}
	return "", false
}

func capacityAnswer(m *analyze.Migration) []string {
	if b, c := m.Runs[0].Sweep, m.Runs[1].Sweep; b != nil && c != nil {
		if line := moreCapacity(b, c); line != "" {
			return []string{line}
		}
	}
	return nil
}

// capacityFigure is the capacity at the highest attainment on both sides.
func capacityFigure(m *analyze.Migration) *Figure {
	b, c := m.Runs[0].Sweep, m.Runs[1].Sweep
	if b == nil || c == nil || len(b.Capacity) == 0 || len(c.Capacity) == 0 {
		return nil
	}
	last := func(s *analyze.Sweep) string {
		l := s.Capacity[len(s.Capacity)-1]
		if l.Speed == nil {
			return unknown
		}
		return boundWord[l.Bound] + three(*l.Speed) + " x"
	}
	return &Figure{"capacity", last(b) + " → " + last(c), fmt.Sprintf("the recorded load, at %g %% good requests", 100*b.Capacity[len(b.Capacity)-1].Attainment)}
}

// capacitySection is the table of the sweeps in a migration report.
func capacitySection(m *analyze.Migration) Section {
	b, c := m.Runs[0].Sweep, m.Runs[1].Sweep
	switch {
	case b == nil && c == nil:
		s := section("capacity", nil, "a comparison at one load cannot say how much a target carries: reprise sweep both, then --base-sweep and --cand-sweep")
		s.Title = "Capacity at the objective"
		return s
	case b == nil:
		b, c = c, nil
	}
	return SweepInput{Base: b, Cand: c}.capacities()
}

func (in SweepInput) capacities() Section {
	var rows [][]any
	for i, s := range in.sweeps() {
		for _, c := range s.Capacity {
			rows = append(rows, []any{in.role(i), c.Attainment, known(s, c), maybe(c.Speed), maybe(c.OfferedPS)})
		}
	}
	about := "The largest load at which so many of the judged requests meet " + in.Base.Objective + ", on a line that does not rise with load between the loads measured. " +
		"at least: the highest load measured kept it; at most: the lowest did not."
	return section("capacity", table("capacity", "Capacity at the objective", about, columnsOf(2, "target text", "attainment share", "known text", "load x", "offered requests/s"), rows), "")
}

func orText(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// loads is every load of the sweeps, with a chart for attainment, first token and goodput.
func (in SweepInput) loads() Section {
	r := in.Base.Table()
	r.Title = "Every load"
	if in.Cand != nil {
		r.Columns = append([]analyze.Column{{Name: "target", Unit: "text", Key: true}}, r.Columns...)
		var rows [][]any
		for i, s := range in.sweeps() {
			for _, row := range s.Table().Rows {
				rows = append(rows, append([]any{in.role(i)}, row...))
			}
		}
		r.Rows = rows
	}
	r.Warnings = nil // in the notes
	r.Chart = "line x=speed y=low,high,attainment,ttft_p50,ttft_p99,ttft_p95,good_tokens_per_s"
	s := section("loads", r, "")
	for i, c := range s.Charts {
		if c.Y.Unit == "%" {
			s.Charts[i].Marks = append(s.Charts[i].Marks, Mark{Name: "90 %", At: 90}, Mark{Name: "99 %", At: 99})
		}
	}
	return s
}

// costs is the price of good tokens at each measured load.
func (in SweepInput) costs() Section {
	var rows [][]any
	for i, s := range in.sweeps() {
		p := in.Prices[i]
		for _, x := range s.Rungs {
			if x.GoodTokens != nil && p.GPUs > 0 && p.Hour > 0 {
				var each any
				if *x.GoodTokens > 0 {
					each = p.GPUs * p.Hour / 3600 / *x.GoodTokens * 1e6
				}
				rows = append(rows, []any{in.role(i), x.Speed, maybe(x.Attainment), p.GPUs, p.GPUs * p.Hour, *x.GoodTokens, each})
			}
		}
	}
	missing := ""
	switch {
	case in.Prices == [2]Price{}:
		missing = "no price was given (--gpu-price and --gpus)"
	case rows == nil:
		missing = "no load was measured"
	}
	return section("cost", table("cost", "Cost of good tokens at each load", "What the GPUs cost for a million output tokens of requests that met the objective: price an hour / 3600 / good tokens a second x 1,000,000 (metrics.md 7.4), whether the GPUs were busy or not.",
		columnsOf(2, "target text", "speed x", "attainment share", "gpus GPUs", "cost_an_hour $", "good_tokens tokens/s", "per_million_good $"), rows), missing)
}
