package decode

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"slices"
)

// BlockBytes is the length of one prefix block of prompt text: about 64 tokens of English.
const BlockBytes = 256

// Prompt gathers the shape of a prompt without keeping its text: length, system share, chained block hashes.
type Prompt struct {
	memory *memory
	prefix
	system    []byte    // role, NUL and text of each message of the instruction part
	long      hash.Hash // of the instruction part when it is too long to remember; else nil
	systemLen int64
}

// prefix is what is known of a prompt so far.
type prefix struct {
	len   int64
	ids   []int64
	chain []byte // what the next block is chained to (the key, then a hash), then the text of the open block
	open  int    // bytes of the open block
}

// Prompt starts an empty prompt.
func (h *Hasher) Prompt() *Prompt {
	p := &Prompt{memory: &memory{h: h}}
	p.reset()
	return p
}

func (p *Prompt) reset() {
	p.system, p.long, p.systemLen, p.len, p.open = p.system[:0], nil, 0, 0, 0
	p.ids, p.chain = p.ids[:0], append(p.chain[:0], p.memory.h.key...)
}

// Add appends one message in order. Role system and developer (and tool definitions, given as role "tools") are the
// instruction part.
func (p *Prompt) Add(role string, text []byte) {
	first := p.len == 0
	switch role {
	case "system", "developer", "tools":
		p.instruct(role, text)
		if first && p.long == nil {
			p.begin(role, text)
			return
		}
	}
	p.add(role, text)
}

func (p *Prompt) instruct(role string, text []byte) {
	p.systemLen += int64(len(role) + 1 + len(text))
	if p.long == nil && len(p.system)+len(text) > maxRemembered {
		p.long = p.memory.h.mac("system")
		p.long.Write(p.system)
	}
	p.system = append(append(p.system, role...), 0)
	if p.long == nil {
		p.system = append(p.system, text...)
		return
	}
	p.long.Write(p.system[len(p.system)-len(role)-1:])
	p.long.Write(text)
}

// begin adds the first message when that is the instructions: calls of one application all begin with the same.
func (p *Prompt) begin(role string, text []byte) {
	if known, ok := p.memory.known[string(p.system)]; ok {
		p.len, p.open = known.len, known.open
		p.ids, p.chain = append(p.ids, known.ids...), append(p.chain[:0], known.chain...)
		return
	}
	p.add(role, text)
	if p.memory.room(2 * len(p.system)) {
		p.memory.known[string(p.system)] = prefix{p.len, slices.Clone(p.ids), slices.Clone(p.chain), p.open}
	}
}

func (p *Prompt) add(role string, text []byte) {
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
			p.ids = append(p.ids, p.id(state))
			p.chain, p.open = append(p.chain[:0], state[:]...), 0
		}
	}
}

// SystemHash returns the keyed hash of the instruction part, "" when there is none.
func (p *Prompt) SystemHash() string {
	if p.long != nil {
		return hex.EncodeToString(p.long.Sum(nil)[:16])
	}
	return p.memory.text("system", p.system)
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
	ids := p.ids
	if p.open > 0 {
		ids = append(ids, p.id(sha256.Sum256(p.chain)))
	}
	return append([]int64(nil), ids...)
}

// id is what is kept of the hash of a block.
func (p *Prompt) id(state [sha256.Size]byte) int64 {
	return int64(binary.LittleEndian.Uint64(state[:]))
}
