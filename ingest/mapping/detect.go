package mapping

import (
	"bytes"
	"slices"

	"gopkg.in/yaml.v3"

	"reprise/ingest/decode"
)

func (p *reader) detect(m *mapping, n *yaml.Node) {
	if n.Kind != yaml.SequenceNode || len(n.Content) < 2 {
		p.fail(n, "detect: expected a list of at least two paths that only this log has, got %s", kindName(n))
		return
	}
	for _, c := range n.Content {
		if c = target(c); c.Kind == yaml.MappingNode {
			m.detect = append(m.detect, []condition{p.condition(c, "detect")})
			continue
		}
		var alternatives []condition
		for _, path := range p.paths(c, "detect") {
			alternatives = append(alternatives, condition{path: path})
		}
		m.detect = append(m.detect, alternatives)
	}
}

// maxSample is how many bytes of text detection looks at: a program says much when it starts, and matching is slow.
const maxSample = 128 << 10

// signs counts the signs of the best record.
func (m *mapping) signs(s *decode.Sample) int {
	best := 0
	if m.text != nil && s.Records == nil {
		seen := 0
		for line := range s.Lines() {
			if len(line) > maxLine {
				continue
			}
			if v, err := m.text.record(bytes.TrimSpace(line)); err == nil && v != nil {
				best = max(best, m.count(m.record(v)))
			}
			if seen += len(line); seen > maxSample || best >= len(m.detect) {
				break
			}
		}
		return best
	}
	for _, v := range s.Records {
		best = max(best, m.count(m.record(v)))
	}
	if s.Header != nil && s.Records == nil {
		if v, err := fromRow(quoted(s.Header), s.Header); err == nil { // each column holds something
			best = max(best, m.count(&record{root: v}))
		}
	}
	return best
}

// record is what stands inside v, or v.
func (m *mapping) record(v *decode.Value) *record {
	rec := &record{root: v}
	if m.inside != nil {
		if inner := rec.find(m.inside); inner.Type() == decode.TypeObject {
			rec.root = inner
		}
	}
	return rec
}

func (m *mapping) count(rec *record) int {
	n := 0
	for _, alternatives := range m.detect {
		if !slices.ContainsFunc(alternatives, func(c condition) bool { return c.shows(rec) }) {
			return 0
		}
		n++
	}
	for _, p := range m.more {
		if rec.find(p) != nil {
			n++
		}
	}
	return n
}

// shows: a path alone need only be there, null too.
func (c *condition) shows(rec *record) bool {
	if c.and == nil && !c.empty && c.notPrefix == nil && c.is == nil && c.prefix == nil && !c.present && !c.missing && c.modelPath == nil && c.below == nil && c.notBelow == nil {
		return rec.find(c.path) != nil
	}
	return c.holds(rec)
}
