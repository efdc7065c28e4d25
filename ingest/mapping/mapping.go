package mapping

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

//go:embed presets/*.yaml
var files embed.FS

// Presets are the mappings that come with the program, in the order of their file names.
func Presets() []decode.Format {
	names, err := files.ReadDir("presets")
	if err != nil {
		panic(err) // embedded
	}
	var list []decode.Format
	for _, f := range names {
		text, err := files.ReadFile("presets/" + f.Name())
		if err != nil {
			panic(err) // embedded
		}
		format, err := New(f.Name(), text)
		if err != nil {
			panic(err) // a test reads them all
		}
		list = append(list, format)
	}
	return list
}

// Load reads a mapping from a file. id identifies its text.
func Load(path string) (f decode.Format, id string, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return f, "", fmt.Errorf("reading mapping: %w", err)
	}
	f, err = New(filepath.Base(path), text)
	sum := sha256.Sum256(text)
	return f, hex.EncodeToString(sum[:8]), err
}

// Text returns a mapping that comes with the program, to start one's own from.
func Text(name string) ([]byte, error) {
	text, err := files.ReadFile("presets/" + name + ".yaml")
	if err != nil {
		var names []string
		entries, _ := files.ReadDir("presets")
		for _, e := range entries {
			names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
		}
		return nil, fmt.Errorf("no mapping %q; there are: %s", name, strings.Join(names, ", "))
	}
	return text, nil
}

// New reads a mapping from text; name stands in its errors, which read name:line: what is wrong.
func New(name string, text []byte) (decode.Format, error) {
	p := &reader{file: name}
	m := p.mapping(text)
	if p.err != nil {
		return decode.Format{}, p.err
	}
	return m.format(), nil
}

// format is what ingest sees of a mapping.
func (m *mapping) format() decode.Format {
	f := decode.Format{Name: m.name, Title: m.title, About: m.about, Units: m.units, Defects: m.defects, Example: strings.TrimSpace(m.example), Detect: m.signs}
	switch {
	case m.once:
		f.Group = m.group
	case m.text == nil:
		f.JSON, f.CSV = m.decode, m.csv
	case m.text.logfmt: // programs that write pairs write the same names as JSON when asked to
		f.Line, f.JSON = m.line, m.decode
	default:
		f.Line = m.line
	}
	return f
}

// mapping is what a file says.
type mapping struct {
	name, title, about, vantage string
	units, defects, example     string

	text      *text         // nil for JSON and CSV
	once      bool          // of the rows with one request_id the first counts
	seen      *recent       // of one file, when once
	detect    [][]condition // all must hold, each by one of its alternatives
	more      []path        // further signs
	skip      []skip
	columns   []column
	inside    path // where the record stands in its object, if it is there
	exclusive bool // input tokens are without cached ones
}

type skip struct {
	condition
	reason string
}

type column struct {
	field
	sources []source
}

func (p *reader) mapping(text []byte) *mapping {
	m := &mapping{vantage: trace.Gateway}
	root := p.root(text)
	if root == nil {
		return m
	}
	for _, e := range p.entries(root, "mapping", []string{"name", "title", "about", "units", "defects", "example", "vantage", "text", "once", "inside", "input_excludes_cached", "detect", "signs", "skip", "columns"}) {
		switch e.key.Value {
		case "name":
			m.name = p.text(e.value, "name")
		case "title":
			m.title = p.text(e.value, "title")
		case "about":
			m.about = p.text(e.value, "about")
		case "units":
			m.units = p.text(e.value, "units")
		case "defects":
			m.defects = p.text(e.value, "defects")
		case "example":
			m.example = p.text(e.value, "example")
		case "text":
			m.text = p.textual(e.value)
		case "once":
			m.once = p.flag(e.value, "once")
		case "vantage":
			m.vantage = p.word(e.value, "vantage", trace.Client, trace.Gateway, trace.Engine)
		case "inside":
			m.inside = p.path(e.value, "inside")
		case "input_excludes_cached":
			m.exclusive = p.flag(e.value, "input_excludes_cached")
		case "detect":
			p.detect(m, e.value)
		case "signs":
			m.more = p.paths(e.value, "signs")
		case "skip":
			p.skips(m, e.value)
		case "columns":
			p.columns(m, e.value)
		}
	}
	p.complete(m, root)
	return m
}

// root parses the one document of the file.
func (p *reader) root(text []byte) *yaml.Node {
	d := yaml.NewDecoder(bytes.NewReader(text))
	var doc, more yaml.Node
	if err := d.Decode(&doc); err != nil || len(doc.Content) == 0 {
		p.err = fmt.Errorf("%s: expected a mapping in YAML: %w", p.file, errors.Join(err))
		if err == nil || errors.Is(err, io.EOF) {
			p.err = fmt.Errorf("%s: expected a mapping in YAML, got an empty file", p.file)
		}
		return nil
	}
	if err := d.Decode(&more); !errors.Is(err, io.EOF) {
		p.err = fmt.Errorf("%s: expected one YAML document, got more", p.file)
		return nil
	}
	return doc.Content[0]
}

func (p *reader) skips(m *mapping, n *yaml.Node) {
	if n.Kind != yaml.SequenceNode {
		p.fail(n, "skip: expected a list of conditions, got %s", kindName(n))
		return
	}
	for _, c := range n.Content {
		s := skip{condition: p.condition(c, "skip", "reason")}
		for _, e := range p.entries(c, "skip", nil) {
			if e.key.Value == "reason" {
				s.reason = p.text(e.value, "skip reason")
			}
		}
		if s.reason == "" {
			p.fail(target(c), "skip: expected a reason, such as health_check")
		}
		m.skip = append(m.skip, s)
	}
}

func (p *reader) columns(m *mapping, n *yaml.Node) {
	known := fields()
	var names []string
	for _, f := range known {
		names = append(names, f.name)
	}
	for _, e := range p.entries(n, "columns", names) {
		c := column{field: known[slices.Index(names, e.key.Value)]}
		sources := []*yaml.Node{e.value}
		if e.value.Kind == yaml.SequenceNode {
			sources = e.value.Content
		}
		for _, s := range sources {
			c.sources = append(c.sources, p.source(s, c.field))
		}
		if len(sources) == 0 {
			p.fail(e.value, "%s: expected a source, got an empty list", c.name)
		}
		m.columns = append(m.columns, c)
	}
}

func (m *mapping) column(name string) *column {
	if i := slices.IndexFunc(m.columns, func(c column) bool { return c.name == name }); i >= 0 {
		return &m.columns[i]
	}
	return nil
}

// complete refuses a mapping that lacks what every row needs.
func (p *reader) complete(m *mapping, root *yaml.Node) {
	p.known(m)
	switch {
	case m.name == "" || strings.Trim(m.name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "":
		p.fail(root, "name: expected small letters, digits and -, got %q", m.name)
	case m.title == "":
		p.fail(root, "title: expected one line for people, got none")
	case m.detect == nil:
		p.fail(root, "detect: expected a list of at least two paths, got none")
	case m.column("arrival") == nil:
		p.fail(root, "columns: expected arrival")
	case m.badEnd("end", "end_us"):
		p.fail(root, "arrival: stamp end needs an end_us with a unit")
	case m.badEnd("headers", "headers_us"):
		p.fail(root, "arrival: stamp headers needs a headers_us with a unit")
	case (m.column("first_us") == nil) != (m.column("ttft_kind") == nil):
		p.fail(root, "ttft_kind: first_us needs a ttft_kind that says which event it is; the time of the response headers is headers_us, never first_us")
	case (m.column("input_tokens") != nil || m.column("output_tokens") != nil) && m.column("tokens_source") == nil:
		p.fail(root, "tokens_source: expected {const: usage} (the server counted) or {const: estimated}")
	}
}

// badEnd says that arrival is told by a moment whose duration is not there, or counts from arrival itself.
func (m *mapping) badEnd(moment, name string) bool {
	arrival, d := m.column("arrival"), m.column(name)
	return arrival != nil && slices.ContainsFunc(arrival.sources, func(s source) bool { return s.stamp != nil && s.stamp.moment == moment }) &&
		(d == nil || slices.ContainsFunc(d.sources, func(s source) bool { return s.stamp != nil }))
}

// known refuses a path that begins with no group of the expressions.
func (p *reader) known(m *mapping) {
	if m.text == nil || m.text.logfmt {
		return
	}
	names := m.text.groups()
	for _, u := range p.used {
		if first := u.path[0].first(); !slices.Contains(names, first) {
			p.unknown(u.node, u.what+" group", first, names)
		}
	}
}
