package decode

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// Hasher makes keyed hashes, so that a hash in a run cannot be turned back by trying names. The key stays on the
// machine that ingests; the same key gives the same hashes, which keeps runs joinable.
type Hasher struct{ key []byte }

// NewHasher uses key, which should be at least 16 random bytes.
func NewHasher(key []byte) *Hasher { return &Hasher{key} }

// Text returns 32 hex digits of HMAC-SHA-256 over kind and s; "" for "". kind keeps the same text in two roles apart.
func (h *Hasher) Text(kind, s string) string {
	if s == "" {
		return ""
	}
	m := hmac.New(sha256.New, h.key)
	m.Write([]byte(kind))
	m.Write([]byte{0})
	m.Write([]byte(s))
	return hex.EncodeToString(m.Sum(nil)[:16])
}

// BlockBytes is the length of one prefix block of prompt text: about 64 tokens of English.
const BlockBytes = 256

// Prompt gathers the shape of a prompt without keeping its text: length, system share, chained block hashes.
type Prompt struct {
	h      *Hasher
	system []byte
	text   []byte
}

// Prompt starts an empty prompt.
func (h *Hasher) Prompt() *Prompt { return &Prompt{h: h} }

// Add appends one message in order. Role system and developer (and tool definitions, given as role "tools") are the
// instruction part.
func (p *Prompt) Add(role string, text []byte) {
	switch role {
	case "system", "developer", "tools":
		p.system = append(append(append(p.system, role...), 0), text...)
	}
	p.text = append(append(append(append(p.text, role...), 0), text...), 1)
}

// SystemHash returns the keyed hash of the instruction part, "" when there is none.
func (p *Prompt) SystemHash() string { return p.h.Text("system", string(p.system)) }

// SystemTokens estimates the tokens of the instruction part from its share of the text; nil when input is unknown or
// there was no text at all, 0 when there was text but no instruction.
func (p *Prompt) SystemTokens(input *int64) *int64 {
	if input == nil || len(p.text) == 0 {
		return nil
	}
	n := (*input*int64(len(p.system)) + int64(len(p.text))/2) / int64(len(p.text))
	return &n
}

// Blocks returns the chained hash of each full block and of the last partial one; nil without text. Two prompts with
// the same i-th id agree in all text up to the end of block i.
func (p *Prompt) Blocks() []int64 {
	if len(p.text) == 0 {
		return nil
	}
	ids := make([]int64, 0, len(p.text)/BlockBytes+1)
	state := p.h.key
	for start := 0; start < len(p.text); start += BlockBytes {
		m := sha256.New()
		m.Write(state)
		m.Write(p.text[start:min(start+BlockBytes, len(p.text))])
		state = m.Sum(nil)
		ids = append(ids, int64(binary.LittleEndian.Uint64(state)))
	}
	return ids
}
