package otel

import (
	"strconv"
	"strings"
	"unsafe"

	"reprise/ingest/decode"
)

// memory is what a worker uses again from record to record. Texts that the walkers and [attrs] give are views of the
// record or of this: they end with the record, and build.own copies those that a request keeps.
type memory struct {
	visited []*span // in takeAll
	spans   []*span // made so far; the first used are in use
	used    int
	list    []attr // of all attributes of the record
	names   nameTable
	pair    decode.Pair // key and value of an attribute
	text    []byte      // written for the record: ids as hex digits
	prompt  []byte      // shaper.buf
	joined  []byte      // the name of an attribute
	inner   []*inner    // of the texts parsed for one request; the first parsed are in use
	parsed  int
}

// inner parses one text that stands inside a record.
type inner struct {
	decode.Parser
	python decode.PythonParser
	out    []byte // a Python text as JSON, where it is not simple
}

// What is kept for the next record: one large record must not be paid for ever after.
const maxSpans, maxAttrs, maxBytes, maxInner, maxInnerText = 4096, 1 << 16, 1 << 20, 16, 16 << 10

func scratch(c *decode.Context) *memory {
	m, ok := c.Scratch.(*memory)
	if !ok {
		m = &memory{pair: *decode.NewPair("key", "value")}
		c.Scratch = m
	}
	return m
}

// reset begins a record.
func (m *memory) reset() {
	m.visited, m.used = emptied(m.visited, maxSpans), 0
	m.spans = m.spans[:min(len(m.spans), maxSpans)]
	m.list = emptied(m.list, maxAttrs)
	m.text, m.prompt = emptied(m.text, maxBytes), emptied(m.prompt, maxBytes)
}

func emptied[T any](s []T, most int) []T {
	if cap(s) > most {
		return nil
	}
	return s[:0]
}

// span returns an empty one.
func (m *memory) span() *span {
	if m.used == len(m.spans) {
		m.spans = append(m.spans, new(span))
	}
	s := m.spans[m.used]
	m.used++
	*s = span{events: s.events[:0]}
	return s
}

// parse reads a list or map that stands in a text, as JSON or as Python prints it ({'a': None, 'b': (1, True)}). nil
// when the text is neither: no literal, cut, or nested too deep. The value is valid until the next request.
func (m *memory) parse(s string) *decode.Value {
	s = strings.TrimSpace(s)
	if s == "" {
		return nil
	}
	p, b := m.parser(len(s)), raw(s)
	v, err := (*decode.Value)(nil), errLiteral
	if strings.HasPrefix(strings.TrimLeft(s, "[{ "), "'") {
		if len(s) <= maxLiteral {
			v, err = p.python.ParseBytes(b)
		}
	} else if s[0] == '{' || s[0] == '[' {
		v, err = p.ParseBytes(b)
	}
	if err == nil {
		return v
	}
	if p.out, err = appendPython(p.out[:0], s); err != nil {
		return nil
	}
	if v, err = p.ParseBytes(p.out); err != nil {
		return nil
	}
	return v
}

// name is that of an attribute of a list, until the next.
func (m *memory) name(list string, i int, rest string) string {
	m.joined = append(strconv.AppendInt(append(m.joined[:0], list...), int64(i), 10), rest...)
	return view(m.joined)
}

func (m *memory) parser(size int) *inner {
	if m.parsed == maxInner || size > maxInnerText {
		return new(inner)
	}
	if m.parsed == len(m.inner) {
		m.inner = append(m.inner, new(inner))
	}
	m.parsed++
	return m.inner[m.parsed-1]
}

// raw is s as bytes, not to be written to.
func raw(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// view is b as text, without a copy.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
