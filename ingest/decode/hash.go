package decode

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
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
	m := h.mac(kind)
	m.Write([]byte(s))
	return hex.EncodeToString(m.Sum(nil)[:16])
}

func (h *Hasher) mac(kind string) hash.Hash {
	m := hmac.New(sha256.New, h.key)
	m.Write([]byte(kind))
	m.Write([]byte{0})
	return m
}

// BlockBytes is the length of one prefix block of prompt text: about 64 tokens of English.
const BlockBytes = 256

// Prompt gathers the shape of a prompt without keeping its text: length, system share, chained block hashes.
type Prompt struct {
	h         *Hasher
	system    hash.Hash // of the instruction part; nil without one
	systemLen int64
	len       int64
	ids       []int64
	chain     []byte // what the next block is chained to (the key, then a hash), then the text of the open block
	open      int    // bytes of the open block
}

// Prompt starts an empty prompt.
func (h *Hasher) Prompt() *Prompt {
	return &Prompt{h: h, chain: append(make([]byte, 0, len(h.key)+BlockBytes), h.key...)}
}

// Add appends one message in order. Role system and developer (and tool definitions, given as role "tools") are the
// instruction part.
func (p *Prompt) Add(role string, text []byte) {
	switch role {
	case "system", "developer", "tools":
		if p.system == nil {
			p.system = p.h.mac("system")
		}
		p.system.Write([]byte(role))
		p.system.Write([]byte{0})
		p.system.Write(text)
		p.systemLen += int64(len(role) + 1 + len(text))
	}
	p.len += int64(len(role) + 1 + len(text) + 1)
	addText(p, role)
	addText(p, "\x00")
	addText(p, text)
	addText(p, "\x01")
}

// addText cuts text into blocks and closes each full one.
func addText[T string | []byte](p *Prompt, text T) {
	for len(text) > 0 {
		n := min(len(text), BlockBytes-p.open)
		p.chain, p.open = append(p.chain, text[:n]...), p.open+n
		text = text[n:]
		if p.open == BlockBytes {
			state := sha256.Sum256(p.chain)
			p.ids = append(p.ids, int64(binary.LittleEndian.Uint64(state[:])))
			p.chain, p.open = append(p.chain[:0], state[:]...), 0
		}
	}
}

// SystemHash returns the keyed hash of the instruction part, "" when there is none.
func (p *Prompt) SystemHash() string {
	if p.system == nil {
		return ""
	}
	return hex.EncodeToString(p.system.Sum(nil)[:16])
}

// SystemTokens estimates the tokens of the instruction part from its share of the text; nil when input is unknown or
// there was no text at all, 0 when there was text but no instruction.
func (p *Prompt) SystemTokens(input *int64) *int64 {
	if input == nil || p.len == 0 {
		return nil
	}
	n := (*input*p.systemLen + p.len/2) / p.len
	return &n
}

// Blocks returns the chained hash of each full block and of the last partial one; nil without text. Two prompts with
// the same i-th id agree in all text up to the end of block i.
func (p *Prompt) Blocks() []int64 {
	if p.open == 0 {
		return p.ids
	}
	state := sha256.Sum256(p.chain)
	return append(p.ids[:len(p.ids):len(p.ids)], int64(binary.LittleEndian.Uint64(state[:])))
}
