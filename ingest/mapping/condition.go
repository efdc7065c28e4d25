package mapping

import (
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"reprise/ingest/decode"
)

// condition says something of a record. All that is set must hold.
type condition struct {
	path             path
	is, prefix       []string
	notPrefix        []string
	present, missing bool
	modelPath        *bool
	empty            bool
	below, notBelow  path
	and              []condition
}

func conditionKeys() []string {
	return []string{"path", "is", "prefix", "not_prefix", "present", "missing", "model_path", "empty", "below", "not_below"}
}

// condition reads one that may hold others; keys of the caller are extra. The others hold none: aliases could make a
// ring.
func (p *reader) condition(n *yaml.Node, what string, extra ...string) condition {
	c := p.single(n, what, append(extra, "and")...)
	for _, e := range p.entries(n, what, nil) {
		if e.key.Value == "and" {
			others := []*yaml.Node{e.value}
			if e.value.Kind == yaml.SequenceNode {
				others = e.value.Content
			}
			for _, n := range others {
				c.and = append(c.and, p.single(n, what+" and"))
			}
		}
	}
	return c
}

func (p *reader) single(n *yaml.Node, what string, extra ...string) (c condition) {
	for _, e := range p.entries(n, what, append(conditionKeys(), extra...)) {
		switch e.key.Value {
		case "path":
			c.path = p.path(e.value, what)
		case "is":
			c.is = p.texts(e.value, what+" is")
		case "prefix":
			c.prefix = p.texts(e.value, what+" prefix")
		case "not_prefix":
			c.notPrefix = p.texts(e.value, what+" not_prefix")
		case "present":
			c.present = p.flag(e.value, what+" present")
			c.missing = !c.present
		case "missing":
			c.missing = p.flag(e.value, what+" missing")
			c.present = !c.missing
		case "model_path":
			b := p.flag(e.value, what+" model_path")
			c.modelPath = &b
		case "empty":
			c.empty = p.flag(e.value, what+" empty")
		case "below":
			c.below = p.path(e.value, what+" below")
		case "not_below":
			c.notBelow = p.path(e.value, what+" not_below")
		}
	}
	if c.path == nil {
		p.fail(n, "%s: a condition needs a path", what)
	}
	return c
}

func (p *reader) flag(n *yaml.Node, what string) bool {
	return p.word(n, what, "true", "false") == "true"
}

func (p *reader) path(n *yaml.Node, what string) path {
	text := p.text(n, what)
	got, wrong := parsePath(text)
	if wrong != "" {
		p.fail(target(n), "%s: bad path %q: %s", what, text, wrong)
		return got
	}
	p.used = append(p.used, use{target(n), what, got})
	return got
}

func (p *reader) paths(n *yaml.Node, what string) (list []path) {
	if n = target(n); n.Kind != yaml.SequenceNode {
		return []path{p.path(n, what)}
	}
	for _, c := range n.Content {
		list = append(list, p.path(c, what))
	}
	if len(list) == 0 {
		p.fail(n, "%s: expected at least one path, got an empty list", what)
	}
	return list
}

// holds in rec. A missing value holds only for missing: true, and for a comparison never.
func (c *condition) holds(rec *record) bool {
	v := rec.find(c.path)
	s := decode.Text(v)
	there := s != "" || v.Type() == decode.TypeObject || v.Type() == decode.TypeArray
	switch {
	case slices.ContainsFunc(c.and, func(other condition) bool { return !other.holds(rec) }):
		return false
	case c.empty:
		return v.Type() == decode.TypeString && len(v.GetStringBytes()) == 0
	case c.missing || c.present:
		if there != c.present {
			return false
		}
	case !there:
		return false
	}
	_, model := endpoint(s)
	begins := func(p string) bool { return strings.HasPrefix(s, p) }
	return (c.is == nil || slices.Contains(c.is, s)) &&
		(c.prefix == nil || slices.ContainsFunc(c.prefix, begins)) && !slices.ContainsFunc(c.notPrefix, begins) &&
		(c.modelPath == nil || model == *c.modelPath) &&
		(c.below == nil || less(rec, c.path, c.below) == yes) &&
		(c.notBelow == nil || less(rec, c.path, c.notBelow) == no)
}

type answer int

const (
	unknown answer = iota
	yes
	no
)

// less compares two numbers.
func less(rec *record, a, b path) answer {
	x, err1 := strconv.ParseFloat(decode.Text(rec.find(a)), 64)
	y, err2 := strconv.ParseFloat(decode.Text(rec.find(b)), 64)
	switch {
	case err1 != nil || err2 != nil:
		return unknown
	case x < y:
		return yes
	}
	return no
}
