package mapping

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"reprise/ingest/decode"
)

// source is one place a column's value may come from.
type source struct {
	paths    []path
	constant string
	values   []meaning
	missing  []string
	split    []string
	take     int // index in a split list; last for the last part
	unit     time.Duration
	timed    bool // a duration with a unit
	stamp    *stamp
	plus     int64
	sum      string // all or any: of the values at all paths, or of those that are there
	when     *condition
	quality  string
}

// meaning is one entry of values; prefix for a text that ended in a star.
type meaning struct {
	text, means string
	prefix      bool
}

// last takes the last part of a list, only the part of a list of one.
const (
	last = -1
	only = -2
)

func sourceKeys() []string {
	return []string{"path", "const", "values", "missing", "split", "take", "unit", "time", "stamp", "zone", "plus", "sum", "when", "quality"}
}

// source reads a path alone or a mapping.
func (p *reader) source(n *yaml.Node, f field) source {
	s := source{take: last}
	if n = target(n); n.Kind == yaml.ScalarNode {
		s.paths = p.paths(n, f.name)
	} else {
		st := stamp{}
		for _, e := range p.entries(n, f.name, sourceKeys()) {
			p.option(&s, &st, e, f)
		}
		if st.format != "" {
			s.stamp = &st
		} else if st != (stamp{}) {
			p.fail(n, "%s: stamp and zone need a time", f.name)
		}
	}
	p.checkSource(n, &s, f)
	return s
}

func (p *reader) option(s *source, st *stamp, e entry, f field) {
	what := f.name + " " + e.key.Value
	switch e.key.Value {
	case "path":
		s.paths = p.paths(e.value, what)
	case "const":
		s.constant = p.fits(e.value, what, f)
	case "values":
		for _, v := range p.entries(e.value, what, nil) {
			text, prefix := strings.CutSuffix(v.key.Value, "*")
			s.values = append(s.values, meaning{text, p.fits(v.value, what, f), prefix})
		}
	case "missing":
		s.missing = p.texts(e.value, what)
	case "split":
		s.split = p.texts(e.value, what)
		if slices.Contains(s.split, "") {
			p.fail(e.value, "%s: a separator is empty", what)
		}
	case "take":
		s.take = p.index(e.value, what)
	case "unit":
		s.unit, s.timed = units()[p.word(e.value, what, "s", "ms", "us", "ns", "text")], true
	case "time":
		st.format = p.timeFormat(e.value, what)
	case "stamp":
		st.moment = p.word(e.value, what, "start", "end", "headers", "late")
	case "zone":
		st.zone = p.zone(e.value, what)
	case "plus":
		s.plus = p.number(e.value, what)
	case "sum":
		s.sum = p.word(e.value, what, "all", "any")
	case "when":
		c := p.condition(e.value, what)
		s.when = &c
	case "quality":
		s.quality = p.word(e.value, what, flags()...)
	}
}

// fits gives a text that the column can hold as it is.
func (p *reader) fits(n *yaml.Node, what string, f field) string {
	switch {
	case f.words != nil:
		return p.word(n, what, f.words...)
	case f.kind == kindBool:
		return p.word(n, what, "true", "false")
	case f.kind == kindInt || f.kind == kindStatus:
		p.number(n, what)
	}
	return p.text(n, what)
}

func (p *reader) index(n *yaml.Node, what string) int {
	switch s := p.text(n, what); s {
	case "first":
		return 0
	case "last":
		return last
	case "only":
		return only
	}
	return int(max(p.number(n, what), 0))
}

func (p *reader) number(n *yaml.Node, what string) int64 {
	i, err := strconv.ParseInt(p.text(n, what), 10, 32)
	if err != nil {
		p.fail(target(n), "%s: expected an integer, got %s", what, kindName(target(n)))
	}
	return i
}

func (p *reader) timeFormat(n *yaml.Node, what string) string {
	s := p.text(n, what)
	if !slices.Contains(stampFormats(), s) && !strings.Contains(s, "2006") {
		p.unknown(target(n), what, s, append(stampFormats(), "2006-01-02 15:04:05"))
	}
	return s
}

func (p *reader) zone(n *yaml.Node, what string) *time.Location {
	name := p.text(n, what)
	loc, err := time.LoadLocation(name)
	if err != nil || name == "" || name == "Local" {
		p.fail(target(n), "%s: expected the name of a zone such as UTC or Europe/Berlin, got %q", what, name)
		return nil
	}
	return loc
}

// checkSource refuses what would be read as something else than it is.
func (p *reader) checkSource(n *yaml.Node, s *source, f field) {
	isTime := f.kind == kindDuration || f.kind == kindArrival
	switch {
	case (len(s.paths) == 0) == (s.constant == ""):
		p.fail(n, "%s: expected a path or a const", f.name)
	case f.kind == kindDuration && s.timed == (s.stamp != nil):
		p.fail(n, "%s: a duration needs a unit (s, ms, us, ns, text) or, for a stamp, a time", f.name)
	case f.kind == kindArrival && (s.stamp == nil || s.timed):
		p.fail(n, "%s: a stamp needs a time, one of: %s, or a Go layout", f.name, strings.Join(stampFormats(), ", "))
	case !isTime && (s.timed || s.stamp != nil):
		p.fail(n, "%s: unit and time are for durations and stamps", f.name)
	case f.kind != kindInt && s.plus != 0:
		p.fail(n, "%s: plus is for integers", f.name)
	case f.kind == kindText && f.words != nil && s.constant == "" && s.values == nil:
		p.fail(n, "%s: expected a const or values of: %s", f.name, strings.Join(f.words, ", "))
	case f.kind == kindDuration && s.stamp != nil && s.stamp.moment != "":
		p.fail(n, "%s: stamp is for arrival", f.name)
	case s.sum != "" && (f.typ != reflect.TypeFor[*int64]() || s.stamp != nil || s.values != nil):
		p.fail(n, "%s: sum is for integers and durations with a unit, without values", f.name)
	}
}

// text gives what the record says, "" when it says nothing.
func (s *source) text(rec *record) string {
	if s.when != nil && !s.when.holds(rec) {
		return ""
	}
	if s.constant != "" {
		return s.constant
	}
	for _, p := range s.paths {
		if t := s.meaning(decode.Text(rec.find(p))); t != "" {
			return t
		}
	}
	return ""
}

func (s *source) meaning(t string) string {
	if t == "" || s.isMissing(t) {
		return ""
	}
	if s.split == nil {
		return s.mean(t)
	}
	parts := []string{t}
	for _, sep := range s.split {
		var finer []string
		for _, p := range parts {
			finer = append(finer, strings.Split(p, sep)...)
		}
		parts = finer
	}
	return s.pick(parts)
}

// isMissing: "0" is any way to write zero.
func (s *source) isMissing(t string) bool {
	return slices.Contains(s.missing, t) || strings.Trim(t, "0.") == "" && slices.Contains(s.missing, "0")
}

// pick takes one part of a list; with values the first meaning that any part has.
func (s *source) pick(parts []string) string {
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	for _, m := range s.values {
		if slices.ContainsFunc(parts, m.is) {
			return m.means
		}
	}
	i := s.take
	switch {
	case i == last || i == only && len(parts) == 1:
		i = len(parts) - 1
	case i == only:
		return ""
	}
	if s.values != nil || i >= len(parts) || parts[i] == "-" || s.isMissing(parts[i]) {
		return ""
	}
	return parts[i]
}

// mean translates by values: an exact text before the longest prefix.
func (s *source) mean(t string) string {
	if s.values == nil {
		return t
	}
	best, length := "", -1
	for _, m := range s.values {
		switch {
		case !m.prefix && m.text == t:
			return m.means
		case m.prefix && len(m.text) > length && m.is(t):
			best, length = m.means, len(m.text)
		}
	}
	return best
}

func (m meaning) is(t string) bool { return t == m.text || m.prefix && strings.HasPrefix(t, m.text) }

// total adds the numbers at the paths; nil when none is there, or not all of them with sum: all.
func (s *source) total(rec *record) (*int64, error) {
	if s.when != nil && !s.when.holds(rec) {
		return nil, nil
	}
	var sum *int64
	for _, p := range s.paths {
		text := s.meaning(decode.Text(rec.find(p)))
		switch {
		case text == "" && s.sum == "all":
			return nil, nil
		case text == "":
			continue
		}
		n, err := integer(text)
		if s.timed {
			n, err = duration(text, s.unit)
		}
		if err != nil {
			return nil, err
		}
		if sum == nil {
			sum = new(int64)
		}
		*sum += n
	}
	return sum, nil
}
