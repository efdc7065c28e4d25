package analyze

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

type sloParser struct {
	text string
	pos  int
}

func (p *sloParser) parse() (SLO, error) {
	var slo SLO
	for {
		t, err := p.term()
		if err != nil {
			return slo, err
		}
		for _, o := range slo.Terms {
			if o.Metric == t.Metric {
				return slo, p.fail("second bound for %s", t.Metric)
			}
		}
		slo.Terms = append(slo.Terms, t)
		if p.skip(); p.pos == len(p.text) {
			slo.settle()
			return slo, nil
		}
		if !p.take(",") {
			return slo, p.fail("expected a comma or the end, got %q", p.rest())
		}
	}
}

// settle fills in the objectives that the text leaves open.
func (s *SLO) settle() {
	next := DefaultObjective
	s.Objective = 1
	for i := len(s.Terms) - 1; i >= 0; i-- {
		if s.Terms[i].Objective == 0 {
			s.Terms[i].Objective = next
		}
		next = s.Terms[i].Objective
		s.Objective = min(s.Objective, next)
	}
}

func (p *sloParser) term() (Term, error) {
	var t Term
	p.skip()
	if t.Metric = p.word(); !slices.Contains(sloMetrics, t.Metric) {
		return t, p.fail("expected a metric (%s) or a preset (%s), got %q", strings.Join(sloMetrics, ", "), strings.Join(presetNames(), ", "), p.rest())
	}
	p.pos += len(t.Metric)
	p.skip()
	if !p.take("<=") {
		return t, p.fail("expected <= after %s, got %q", t.Metric, p.rest())
	}
	var err error
	if t.Bound, err = p.duration(); err != nil {
		return t, err
	}
	if t.PerInput, err = p.perInput(t.Metric); err != nil {
		return t, err
	}
	p.skip()
	if p.take("@") {
		t.Objective, err = p.share()
	}
	return t, err
}

// duration reads a bound.
func (p *sloParser) duration() (int64, error) {
	start, f, text, err := p.time()
	if err != nil {
		return 0, err
	}
	us := math.Round(f)
	if us < 1 || us > maxBound || math.Abs(us-f) > 1e-6*us {
		return 0, p.failAt(start, "expected a bound of 1us to 30 days in whole microseconds, got %s", text)
	}
	return int64(us), nil
}

// perInput reads what each input token adds to a bound: "+ TIME * in", or nothing.
func (p *sloParser) perInput(metric string) (float64, error) {
	p.skip()
	plus := p.pos
	if !p.take("+") {
		return 0, nil
	}
	if metric != "ttft" && metric != "ttfvt" && metric != "e2e" {
		return 0, p.failAt(plus, "only ttft, ttfvt and e2e may grow with the input, not %s", metric)
	}
	start, us, text, err := p.time()
	if err != nil {
		return 0, err
	}
	p.skip()
	star := p.take("*")
	p.skip()
	if !star || !p.take("in") {
		return 0, p.fail("expected *in after +%s, got %q", text, p.rest())
	}
	if us <= 0 || us > 1e6 {
		return 0, p.failAt(start, "expected up to 1s an input token, got %s", text)
	}
	return us, nil
}

// time reads a number and its unit as microseconds.
func (p *sloParser) time() (start int, us float64, text string, err error) {
	start, digits := p.number()
	f, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return start, 0, "", p.failAt(start, "expected a number, got %q", p.text[start:])
	}
	p.skip()
	for _, u := range []struct {
		name   string
		factor float64
	}{{"us", 1}, {"ms", 1e3}, {"s", 1e6}} {
		if p.take(u.name) {
			return start, f * u.factor, digits + u.name, nil
		}
	}
	return start, 0, "", p.fail("expected a unit (us, ms, s) after %s, got %q", digits, p.rest())
}

const maxBound = 30 * 86400e6 // 30 days

// share reads a percentage as a share of 1.
func (p *sloParser) share() (float64, error) {
	start, digits := p.number()
	f, err := strconv.ParseFloat(digits+"e-2", 64) // rounds once: 99.9 % is 0.999
	if err != nil || f <= 0 || f > 1 {
		return 0, p.failAt(start, "expected a percentage above 0 and up to 100, got %q", p.text[start:])
	}
	p.skip()
	if !p.take("%") {
		return 0, p.fail("expected %% after %s, got %q", digits, p.rest())
	}
	return f, nil
}

// number takes the digits that follow and says where they began.
func (p *sloParser) number() (start int, digits string) {
	p.skip()
	start = p.pos
	for p.pos < len(p.text) && strings.IndexByte("0123456789.", p.text[p.pos]) >= 0 {
		p.pos++
	}
	return start, p.text[start:p.pos]
}

// word is the run of letters and underscores (and the 2 of e2e) that follows.
func (p *sloParser) word() string {
	end := p.pos
	for end < len(p.text) && (p.text[end] == '_' || p.text[end] == '2' || 'a' <= p.text[end] && p.text[end] <= 'z') {
		end++
	}
	return p.text[p.pos:end]
}

func (p *sloParser) take(s string) bool {
	if !strings.HasPrefix(p.text[p.pos:], s) {
		return false
	}
	p.pos += len(s)
	return true
}

func (p *sloParser) skip() {
	for p.pos < len(p.text) && (p.text[p.pos] == ' ' || p.text[p.pos] == '\t' || p.text[p.pos] == '\n') {
		p.pos++
	}
}

func (p *sloParser) rest() string { return p.text[p.pos:] }

func (p *sloParser) fail(format string, args ...any) error { return p.failAt(p.pos, format, args...) }

func (p *sloParser) failAt(pos int, format string, args ...any) error {
	return fmt.Errorf("slo: position %d: %s", pos+1, fmt.Sprintf(format, args...))
}
