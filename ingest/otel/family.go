package otel

import (
	"cmp"
	"slices"
	"strings"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// family is what only several spans together can tell: the requests made so far, and of every span what its relatives
// need to know. It is settled when a record has been read, or, where requests are joined over the file, at the end of it.
type family struct {
	nodes, before map[[2]string]*node // by trace and span id, nil where no span tells of others; before: of the generation before
	calls, kept   []call              // requests of this generation, and of the one before
}

// node is a span without its attributes.
type node struct {
	trace, parent, name string
	start, end          int64
	leg                 bool // llm-d's sidecar around one of its two calls
	root                bool // SGLang's span of a request
	abort               bool // SGLang's thread that was aborted; forgotten spans are closed that way, too, without the type
	status              int32
	wait, aborted       *node // of a root: what is below it
}

type call struct {
	r      *trace.Request
	body   []byte
	node   *node // nil without relatives
	engine bool
}

func newFamily() *family { return &family{nodes: map[[2]string]*node{}} }

// takeAll makes requests of the spans that walk visits, in one record. What was visited before walk fails is kept.
func takeAll(c *decode.Context, format string, walk func(visit func(*span)) error) error {
	m := scratch(c)
	m.reset()
	err := walk(func(s *span) { m.visited = append(m.visited, s) })
	f := new(family)
	if slices.ContainsFunc(m.visited, (*span).related) {
		f = newFamily()
	}
	for _, s := range m.visited {
		f.take(c, format, s)
	}
	f.settle(c)
	return err
}

// related says that a span tells of others. Most records hold none of the kind, and need no nodes.
func (s *span) related() bool { return s.leg() || s.sglangRoot() }

// take makes a request of a span, or counts why it is none.
func (f *family) take(c *decode.Context, format string, s *span) {
	scratch(c).index(&s.attrs)
	var n *node
	if f.nodes != nil {
		s.complete()
		n = s.node()
		f.nodes[[2]string{n.trace, strings.Clone(s.spanID)}] = n
	}
	if reason := judge(s); reason != "" {
		c.Skip(reason)
		return
	}
	s.complete()
	r, body := request(c, format, s)
	f.calls = append(f.calls, call{r, body, n, s.engine()})
}

func (s *span) node() *node {
	n := &node{trace: strings.Clone(s.traceID), parent: strings.Clone(s.parentID), name: strings.Clone(s.name), start: s.start, end: s.end, leg: s.leg(), root: s.sglangRoot()}
	if n.abort = s.failed && s.attrs.text("type") == "abort"; n.abort {
		n.status = decode.StatusCode(s.attrs.text("status_code"))
	}
	return n
}

// maxDepth bounds the climb through parents: ids of others may form a ring.
const maxDepth = 16

// above returns the nearest ancestor for which is says yes; nil without one.
func (f *family) above(n *node, is func(*node) bool) *node {
	for range maxDepth {
		if n.parent == "" {
			return nil
		}
		key := [2]string{n.trace, n.parent}
		if n = f.nodes[key]; n == nil {
			n = f.before[key]
		}
		if n == nil || is(n) {
			return n
		}
	}
	return nil
}

// settle emits what is held, each request with what its relatives say.
func (f *family) settle(c *decode.Context) {
	f.descend(f.before)
	f.descend(f.nodes)
	f.emit(c, f.kept)
	f.emit(c, f.calls)
}

// descend tells roots what is below them.
func (f *family) descend(nodes map[[2]string]*node) {
	for _, n := range nodes {
		waits := n.name == "prefill_waiting"
		if !waits && !n.abort {
			continue
		}
		root := f.above(n, func(x *node) bool { return x.root })
		switch {
		case root == nil:
		case n.abort && (root.aborted == nil || n.status > root.aborted.status):
			root.aborted = n
		case waits && (root.wait == nil || n.earlier(root.wait)): // the first: after a retraction there is another
			root.wait = n
		}
	}
}

// earlier orders spans by their times alone: the order of a map must not show.
func (n *node) earlier(other *node) bool {
	return cmp.Or(cmp.Compare(n.start, other.start), cmp.Compare(n.end, other.end)) < 0
}

func (f *family) emit(c *decode.Context, calls []call) {
	for _, x := range calls {
		if x.node == nil {
			c.Emit(x.r, x.body)
			continue
		}
		if leg := f.above(x.node, func(n *node) bool { return n.leg }); x.engine && leg != nil && strings.HasSuffix(leg.name, "prefill") {
			c.Skip(duplicateView)
			continue
		}
		x.node.settleSGLang(x.r)
		c.Emit(x.r, x.body)
	}
}
