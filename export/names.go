package export

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"reprise/ingest/trace"
)

// Names renames requests. The same name has the same hash in every row, so that rows still group and pair.
type Names struct {
	hash    func(kind, text string) string // KIND-16 hex digits; "" for ""
	fields  []string                       // name fields to hash
	formats map[string]bool                // that anybody may know
	blocks  map[int64]int64                // block ids that were renamed
}

// maxBlocks bounds the memory of renamed block ids.
const maxBlocks = 1 << 20

// NewNames hashes all names but those in plain, which are words of trace.NameFields. hash gives KIND-16 hex digits, as
// decode.Hasher.Name does. A source format that is none of formats is one of the user's own: its name is hashed too.
func NewNames(hash func(kind, text string) string, formats, plain []string) (*Names, error) {
	n := &Names{hash: hash, formats: map[string]bool{}, blocks: map[int64]int64{}}
	for _, name := range formats {
		n.formats[name] = true
	}
	for _, field := range plain {
		if !slices.Contains(trace.NameFields(), field) {
			return nil, fmt.Errorf("expected %s, got %q", strings.Join(trace.NameFields(), ", "), field)
		}
	}
	for _, field := range trace.NameFields() {
		if !slices.Contains(plain, field) {
			n.fields = append(n.fields, field)
		}
	}
	return n, nil
}

// Rows renames rows on their way.
func (n *Names) Rows(rows iter.Seq2[trace.Request, error]) iter.Seq2[trace.Request, error] {
	return func(yield func(trace.Request, error) bool) {
		for r, err := range rows {
			if err == nil {
				n.rename(&r)
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// rename hashes all ids and names of a request.
func (n *Names) rename(r *trace.Request) {
	for _, id := range []*string{&r.RequestID, &r.RootRequestID, &r.ResponseID, &r.TraceID, &r.SpanID, &r.ParentSpanID, &r.SessionID} {
		*id = n.hash("id", *id) // one kind: a source's response_id may be another's request_id
	}
	for _, field := range n.fields {
		for _, name := range r.Names(field) {
			*name = n.hash(field, *name)
		}
	}
	r.KeyHash, r.UserHash, r.SystemPromptHash = n.hash("key", r.KeyHash), n.hash("user", r.UserHash), n.hash("system", r.SystemPromptHash)
	r.SourceFile = n.hash("file", r.SourceFile)
	if !n.formats[r.SourceFormat] {
		r.SourceFormat = n.hash("format", r.SourceFormat)
	}
	r.PrefixHashIDs = slices.Clone(r.PrefixHashIDs)
	for i, id := range r.PrefixHashIDs {
		r.PrefixHashIDs[i] = n.block(id)
	}
}

// block renames a block id: that of another program may be a hash without a key, which guesses of the text can be tried
// against.
func (n *Names) block(id int64) int64 {
	if as, ok := n.blocks[id]; ok {
		return as
	}
	digits := n.hash("block", strconv.FormatInt(id, 10))
	bits, err := strconv.ParseUint(digits[strings.LastIndexByte(digits, '-')+1:], 16, 64)
	if err != nil {
		panic(err) // hash gives 16 hex digits
	}
	if len(n.blocks) >= maxBlocks {
		clear(n.blocks)
	}
	n.blocks[id] = int64(bits)
	return int64(bits)
}
