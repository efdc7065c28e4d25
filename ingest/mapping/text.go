package mapping

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"reprise/ingest/decode"
)

// text says how a line of text becomes a record: by the named groups of the first expression that matches, or as
// key=value pairs.
type text struct {
	match     []*regexp.Regexp
	logfmt    bool
	skipOther bool // lines that do not match are no requests, rather than broken
}

// maxLine bounds a line of text, and with it the time of a match: an access log holds no bodies.
const maxLine = 16 << 10

func (p *reader) textual(n *yaml.Node) *text {
	t := &text{}
	for _, e := range p.entries(n, "text", []string{"match", "logfmt", "other"}) {
		switch e.key.Value {
		case "match":
			t.match = p.expressions(e.value)
		case "logfmt":
			t.logfmt = p.flag(e.value, "text logfmt")
		case "other":
			t.skipOther = p.word(e.value, "text other", "refuse", "skip") == "skip"
		}
	}
	if (t.match != nil) == t.logfmt {
		p.fail(target(n), "text: expected match (regular expressions with named groups) or logfmt: true")
	}
	return t
}

func (p *reader) expressions(n *yaml.Node) (list []*regexp.Regexp) {
	for i, s := range p.texts(n, "text match") {
		at := target(n)
		if at.Kind == yaml.SequenceNode {
			at = target(at.Content[i])
		}
		re, err := regexp.Compile(s)
		switch {
		case err != nil:
			p.fail(at, "text match: %s in %q", strings.TrimPrefix(err.Error(), "error parsing regexp: "), short(s))
			continue
		case strings.Join(re.SubexpNames(), "") == "":
			p.fail(at, "text match: expected named groups such as (?P<status>[0-9]+), got none in %q", short(s))
		}
		list = append(list, re)
	}
	return list
}

func short(s string) string { return s[:min(len(s), 40)] }

// groups are the names that paths may begin with; nil for any.
func (t *text) groups() (names []string) {
	for _, re := range t.match {
		for _, name := range re.SubexpNames() {
			if name != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// record returns the line as a JSON object of texts, nil when it does not match. Groups that matched nothing are left
// out.
func (t *text) record(line []byte) (*decode.Value, error) {
	line = uncoloured(line)
	object := []byte{'{'}
	if t.logfmt {
		object = pairs(object, line)
	}
	for _, re := range t.match {
		at := re.FindSubmatchIndex(line)
		if at == nil {
			continue
		}
		for i, name := range re.SubexpNames() {
			if name != "" && at[2*i] >= 0 && at[2*i] < at[2*i+1] {
				object = appendMember(object, []byte(name), line[at[2*i]:at[2*i+1]])
			}
		}
		break
	}
	if len(object) == 1 {
		return nil, nil
	}
	return decode.Parse(append(object, '}'))
}

// line turns one line into a request.
func (m *mapping) line(c *decode.Context, line []byte) error {
	var v *decode.Value
	var err error
	long := len(line) > maxLine
	if !long {
		v, err = m.text.record(line)
	}
	switch {
	case err != nil:
		return c.Reject("bad_line", "%v", err)
	case v == nil && m.text.skipOther:
		c.Skip("other_line")
		return nil
	case long:
		return c.Reject("too_long", "expected at most %d KiB in a line of text, got %d bytes", maxLine>>10, len(line))
	case v == nil:
		return c.Reject("no_match", "expected %s, got %q", m.text.expected(), short(string(line)))
	}
	return m.decode(c, v)
}

func (t *text) expected() string {
	if t.logfmt {
		return "key=value pairs"
	}
	return fmt.Sprintf("a line like %q", short(t.match[0].String()))
}

// uncoloured drops the escapes that set colours (ESC [ ... m), which some programs write into files too.
func uncoloured(line []byte) []byte {
	if bytes.IndexByte(line, 0x1b) < 0 {
		return line
	}
	out := make([]byte, 0, len(line))
	for len(line) > 0 {
		if bytes.HasPrefix(line, []byte("\x1b[")) {
			n := 2
			for n < len(line) && (line[n] >= '0' && line[n] <= '9' || line[n] == ';') {
				n++
			}
			if n < len(line) && line[n] == 'm' {
				line = line[n+1:]
				continue
			}
		}
		out, line = append(out, line[0]), line[1:]
	}
	return out
}

// appendMember appends a member of an object that is not its first after a comma.
func appendMember(dst, key, value []byte) []byte {
	if len(dst) > 1 {
		dst = append(dst, ',')
	}
	return appendQuoted(append(appendQuoted(dst, key), ':'), value)
}

// appendQuoted appends s as a JSON string; bytes that are no UTF-8 stay as they are.
func appendQuoted(dst, s []byte) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c < 0x20:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}
