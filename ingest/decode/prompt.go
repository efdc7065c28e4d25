package decode

import (
	"crypto/aes"
	"crypto/subtle"
	"encoding/binary"
	"hash"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"
)

// BlockBytes is the length of one prefix block of prompt text: about 64 tokens of English.
const BlockBytes = 256

// Prompt gathers the shape of a prompt without keeping its text: length, system share, chained block hashes.
type Prompt struct {
	memory *memory
	prefix
	role      []byte    // of the message, as it enters
	begin     *begin    // the first message, while it is the whole instruction part; else nil
	system    hash.Hash // of the instruction part; nil without one and while begin stands for it
	systemLen int64
}

// prefix is what is known of a prompt so far.
type prefix struct {
	len  int64
	ids  []int64
	hash [aes.BlockSize]byte // of all closed blocks; zeros at first
	open []byte              // text of the open block
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
	p.ids, p.hash, p.open = p.ids[:0], [aes.BlockSize]byte{}, p.open[:0]
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
		known = &begin{strings.Clone(role), string(text), hexOf(p.system), prefix{p.len, slices.Clone(p.ids), p.hash, slices.Clone(p.open)}}
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
	p.ids, p.hash, p.open = append(p.ids[:0], known.after.ids...), known.after.hash, append(p.open[:0], known.after.open...)
	p.begin, p.system = known, nil
}

func (p *Prompt) message(role string, text []byte) {
	p.len += int64(len(role) + 1 + len(text) + 1)
	p.role = append(append(p.role[:0], role...), 0)
	p.add(p.role)
	p.add(text)
	p.add(endMark)
}

var endMark = []byte{1}

// add cuts text into blocks and closes each full one.
func (p *Prompt) add(text []byte) {
	for len(p.open)+len(text) >= BlockBytes {
		n := BlockBytes - len(p.open)
		block := text[:n] // most are whole in the text
		if n < BlockBytes {
			p.open = append(p.open, block...)
			block = p.open
		}
		p.close(block)
		p.ids, p.open, text = append(p.ids, p.id()), p.open[:0], text[n:]
	}
	p.open = append(p.open, text...)
}

// close adds a block to the hash of those before: AES over their hash and the block's. XXH3 with a secret seed makes any two
// blocks differ, AES hides what it would show: nobody without the key can tell a text from its ids.
func (p *Prompt) close(block []byte) {
	h := p.memory.h
	sum := xxh3.Hash128Seed(block, h.blocks).Bytes()
	subtle.XORBytes(p.hash[:], p.hash[:], sum[:])
	h.ids.Encrypt(p.hash[:], p.hash[:])
}

// id is what is kept of the hash.
func (p *Prompt) id() int64 { return int64(binary.LittleEndian.Uint64(p.hash[:])) }

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
	if len(p.open) > 0 {
		closed := p.hash
		p.close(p.open)
		ids = append(ids, p.id())
		p.hash = closed
	}
	if len(ids) == 0 {
		return nil
	}
	return keep(&p.memory.kept.ints, ids...)
}
