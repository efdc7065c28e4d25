package mapping

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"reprise/ingest/decode"
)

// reader reads the nodes of one file and remembers its first error.
type reader struct {
	file string
	err  error
	used []use // every path of the file
}

type use struct {
	node *yaml.Node
	what string
	path path
}

// fail keeps the first error; later ones often follow from it.
func (p *reader) fail(n *yaml.Node, format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("%s:%d: %s", p.file, n.Line, fmt.Sprintf(format, args...))
	}
}

// unknown fails about a name that is none of names.
func (p *reader) unknown(n *yaml.Node, what, name string, names []string) {
	p.fail(n, "unknown %s %q; did you mean %q? one of: %s", what, name, decode.Nearest(name, names), strings.Join(names, ", "))
}

type entry struct{ key, value *yaml.Node }

// entries gives the members of a mapping node in order. Every key must be one of keys, unless that is nil.
func (p *reader) entries(n *yaml.Node, what string, keys []string) []entry {
	if n = target(n); n.Kind != yaml.MappingNode {
		p.fail(n, "%s: expected keys with values, got %s", what, kindName(n))
		return nil
	}
	var list []entry
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		e := entry{n.Content[i], target(n.Content[i+1])}
		switch key := e.key.Value; {
		case e.key.Kind != yaml.ScalarNode:
			p.fail(e.key, "%s: expected a name as key, got %s", what, kindName(e.key))
		case keys != nil && !slices.Contains(keys, key):
			p.unknown(e.key, what+" key", key, keys)
		case seen[key]:
			p.fail(e.key, "%s: key %q is there twice", what, key)
		default:
			seen[key] = true
			list = append(list, e)
		}
	}
	return list
}

// text gives a scalar's text.
func (p *reader) text(n *yaml.Node, what string) string {
	if n = target(n); n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		p.fail(n, "%s: expected a text, got %s", what, kindName(n))
		return ""
	}
	return n.Value
}

// texts gives a list of scalars, or a scalar as a list of one.
func (p *reader) texts(n *yaml.Node, what string) []string {
	if n = target(n); n.Kind != yaml.SequenceNode {
		return []string{p.text(n, what)}
	}
	var list []string
	for _, c := range n.Content {
		list = append(list, p.text(c, what))
	}
	if len(list) == 0 {
		p.fail(n, "%s: expected at least one text, got an empty list", what)
	}
	return list
}

// word gives a scalar that is one of words.
func (p *reader) word(n *yaml.Node, what string, words ...string) string {
	s := p.text(n, what)
	if p.err == nil && !slices.Contains(words, s) {
		p.unknown(target(n), what, s, words)
	}
	return s
}

// target follows an alias.
func target(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}

func kindName(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "keys with values"
	case yaml.SequenceNode:
		return "a list"
	case yaml.ScalarNode:
		if n.Tag == "!!null" {
			return "nothing"
		}
		return fmt.Sprintf("%q", n.Value)
	}
	return "something else"
}
