package decode

import (
	"crypto/aes"
	"encoding/binary"
	"hash"
	"slices"
	"strings"
)

// BlockBytes is the length of one prefix block of prompt text: about 64 tokens of English.
const BlockBytes = 256

// Prompt gathers the shape of a prompt without keeping its text: length, system share, chained block hashes.
type Prompt struct {
	memory *memory
	prefix
	tag       []byte
	begin     *begin    // the first message, while it is the whole instruction part; else nil
	system    hash.Hash // of the instruction part; nil without one and while begin stands for it
	systemLen int64
}

// prefix is what is known of a prompt so far.
type prefix struct {
	len   int64
	ids   []int64
	chain []byte // hash of the block before, zeros at first, then the text of the open block
}

// Begins starts the prompt with a message whose content is written as raw, if it was remembered as such; false, and
// nothing done, otherwise. It saves a look at the text.
func (p *Prompt) Begins(role string, raw []byte) bool {
	w := p.memory.slot(raw)
	if p.len > 0 || w.begin == nil || w.raw != string(raw) || w.begin.role != role {
		return false
	}
	w.missed = 0
	p.systemLen += int64(len(role) + 1 + len(w.begin.text))
	p.start(w.begin)
	return true
}

// Remember says that the only message so far, if it is an instruction, is written as raw.
func (p *Prompt) Remember(raw []byte) {
	const patience = 4
	w := p.memory.slot(raw)
	if w.missed++; p.begin != nil && len(raw) <= maxRemembered && (w.begin == nil || w.missed > patience) {
		*w = written{raw: string(raw), begin: p.begin}
	}
}

// written is an instruction message as it is written in the log.
type written struct {
	raw    string
	begin  *begin
	missed int // how often in a row another was looked for
}

func (m *memory) slot(raw []byte) *written { return &m.written[len(raw)%len(m.written)] }

// begin is an instruction message at the begin of a prompt: the calls of one application all begin with the same.
type begin struct {
	role, text string
	system     string // hash of an instruction part that is this message alone
	after      prefix
}

// Prompt starts an empty prompt.
func (h *Hasher) Prompt() *Prompt {
	p := &Prompt{memory: &memory{h: h}}
	p.reset()
	return p
}

func (p *Prompt) reset() {
	p.begin, p.system, p.systemLen, p.len = nil, nil, 0, 0
	p.ids, p.chain = p.ids[:0], append(p.chain[:0], make([]byte, aes.BlockSize)...)
}

// Add appends one message in order. Role system and developer (and tool definitions, given as role "tools") are the
// instruction part.
func (p *Prompt) Add(role string, text []byte) {
	switch role {
	case "system", "developer", "tools":
		p.systemLen += int64(len(role) + 1 + len(text))
		if p.len == 0 && p.remembered(role, text) {
			return
		}
		p.instruct(role, text)
	}
	p.message(role, text)
}

// instruct adds a message to the hash of the instruction part.
func (p *Prompt) instruct(role string, text []byte) {
	if p.system == nil {
		p.system = p.memory.h.mac("system")
		if first := p.begin; first != nil {
			p.begin = nil
			p.instruct(first.role, []byte(first.text))
		}
	}
	p.system.Write([]byte(role))
	p.system.Write([]byte{0})
	p.system.Write(text)
}

// remembered adds an instruction that is the first message; false, and nothing done, when it is too long to remember.
func (p *Prompt) remembered(role string, text []byte) bool {
	known := p.memory.known[string(text)]
	if known == nil || known.role != role {
		if !p.memory.room(2 * len(text)) {
			return false
		}
		p.instruct(role, text)
		p.message(role, text)
		known = &begin{strings.Clone(role), string(text), hexOf(p.system), prefix{p.len, slices.Clone(p.ids), slices.Clone(p.chain)}}
		p.memory.known[known.text] = known
		p.begin, p.system = known, nil
		return true
	}
	p.start(known)
	return true
}

// start begins an empty prompt with a known message.
func (p *Prompt) start(known *begin) {
	p.len = known.after.len
	p.ids, p.chain = append(p.ids[:0], known.after.ids...), append(p.chain[:0], known.after.chain...)
	p.begin, p.system = known, nil
}

func (p *Prompt) message(role string, text []byte) {
	p.len += int64(len(role) + 1 + len(text) + 1)
	addText(p, role)
	addText(p, "\x00")
	addText(p, text)
	addText(p, "\x01")
}

// addText cuts text into blocks and closes each full one.
func addText[T string | []byte](p *Prompt, text T) {
	for len(text) > 0 {
		n := min(len(text), aes.BlockSize+BlockBytes-len(p.chain))
		p.chain = append(p.chain, text[:n]...)
		text = text[n:]
		if len(p.chain) == aes.BlockSize+BlockBytes {
			p.seal()
			p.ids, p.chain = append(p.ids, p.id()), append(p.chain[:0], p.tag...)
		}
	}
}

// seal sets tag to the hash of the open block and all text before it: AES over GMAC. GMAC makes any two texts differ,
// AES hides the sums that GMAC alone would show.
func (p *Prompt) seal() {
	h := p.memory.h
	p.tag = h.blocks.Seal(p.tag[:0], h.nonce, nil, p.chain)
	h.ids.Encrypt(p.tag, p.tag)
}

// id is what is kept of tag.
func (p *Prompt) id() int64 { return int64(binary.LittleEndian.Uint64(p.tag)) }

// SystemHash returns the keyed hash of the instruction part, "" when there is none.
func (p *Prompt) SystemHash() string {
	switch {
	case p.begin != nil:
		return p.begin.system
	case p.system != nil:
		return hexOf(p.system)
	}
	return ""
}

// SystemTokens estimates the tokens of the instruction part from its share of the text; nil when input is unknown or
// there was no text at all, 0 when there was text but no instruction.
func (p *Prompt) SystemTokens(input *int64) *int64 {
	if input == nil || p.len == 0 {
		return nil
	}
	return p.memory.kept.int((*input*p.systemLen + p.len/2) / p.len)
}

// Blocks returns the chained hash of each full block and of the last partial one; nil without text. Two prompts with
// the same i-th id agree in all text up to the end of block i.
func (p *Prompt) Blocks() []int64 {
	ids := p.ids
	if len(p.chain) > aes.BlockSize {
		p.seal()
		ids = append(ids, p.id())
	}
	if len(ids) == 0 {
		return nil
	}
	return keep(&p.memory.kept.ints, ids...)
}
