package replay

import (
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"math"
	"strings"
)

// wordList is 1024 English words that are one token each, with the space before them, in the vocabularies of Llama 2 and 3,
// Mistral, Qwen 3, Gemma 3 and GPT (r50k, cl100k, o200k): a prompt of n of them is n tokens, give or take one, on
// nearly any model. Order matters: it is part of what "the same seed gives the same prompt" means.
//
//go:embed words.txt
var wordList string

// Calibration says how the target counts: tokens = Intercept + words * TokensPerWord, where Intercept is what its chat
// template adds to a prompt without (User) and with (System) a system message. Measured by the preflight.
type Calibration struct {
	TokensPerWord float64 `json:"tokens_per_word"`
	User          float64 `json:"user_intercept"`
	System        float64 `json:"system_intercept"`
	Measured      bool    `json:"measured"` // false: nothing to go by, one token a word is assumed

	Others   map[string]float64 `json:"other_intercepts,omitempty"` // User of other endpoints than the one measured
	endpoint string             // the one measured
}

// other notes what the template of another endpoint costs.
func (c *Calibration) other(endpoint string, intercept float64) {
	if endpoint == c.endpoint || c.Others[endpoint] != 0 {
		return
	}
	if c.Others == nil {
		c.Others = map[string]float64{}
	}
	c.Others[endpoint] = intercept
}

// words returns how many words make n tokens of a prompt for an endpoint.
func (c Calibration) words(n int64, endpoint string, system bool) int {
	return max(1, int(math.Round((float64(n)-c.intercept(endpoint, system))/c.TokensPerWord)))
}

// intercept is what the template of an endpoint costs.
func (c Calibration) intercept(endpoint string, system bool) float64 {
	intercept := c.User
	if other, ok := c.Others[endpoint]; ok {
		intercept = other
	}
	if system {
		intercept += c.System - c.User
	}
	return intercept
}

// at returns the word at which a block boundary of n tokens lies.
func (c Calibration) at(n int64) int { return int(math.Round(float64(n) / c.TokensPerWord)) }

// talks says whether an endpoint has a place for a system prompt.
func talks(endpoint string) bool {
	return endpoint == "chat" || endpoint == "responses" || endpoint == "messages"
}

// saltWords is how many words at the very start of each prompt the salt takes.
const saltWords = 4

// prompter makes synthetic prompts.
type prompter struct {
	words []string
	cal   Calibration
	salt  string // words of its own for a run, so that no cache of an earlier one helps; "" for none
}

func newPrompter(cal Calibration, salt string) *prompter {
	if cal.TokensPerWord <= 0 {
		cal = Calibration{TokensPerWord: 1}
	}
	return &prompter{words: strings.Fields(wordList), cal: cal, salt: salt}
}

// Prompts returns a function that makes up the prompt of an item as a replay would send it, a token a word. system is empty
// when no system prompt is known.
func Prompts() func(*Item) (system, user string) {
	p := newPrompter(Calibration{}, "")
	return func(it *Item) (string, string) {
		text := p.make(it)
		return string(text.system), string(text.user)
	}
}

// prompt is the text of one request: words apart by single spaces. System is empty when no system prompt is known.
type prompt struct{ system, user []byte }

// make builds the prompt of an item. Words come from generators seeded by what the words must have in common: the id of a
// block, the system prompt's hash, or nothing but the request. Where the prompt has blocks, the system prompt is their
// beginning. The salt stands in place of the first words, so it changes no length.
func (p *prompter) make(it *Item) prompt {
	chat := it.SystemTokens > 0 && talks(it.Endpoint)
	w := &wordWriter{p: p, total: p.cal.words(it.InputTokens, it.Endpoint, chat)}
	system := min(p.cal.at(it.SystemTokens), w.total-1)
	if chat {
		w.cut = system
	}
	if p.salt != "" {
		w.put(seed("salt", p.salt), saltWords)
	}
	switch tokens := int64(0); {
	case len(it.PrefixIDs) > 0:
		for i, id := range it.PrefixIDs {
			tokens += int64(it.PrefixTokens[i])
			w.segment(blockSeed(it.Model, id), p.cal.at(tokens))
		}
	case system > 0:
		w.segment(seed("system", it.Model, it.SystemHash), system)
	}
	w.segment(seed("request", it.RequestID), w.total)
	return w.out
}

// wordWriter writes the words of a prompt, those before cut into its system part.
type wordWriter struct {
	p          *prompter
	n          int // words written
	pos        int // words of segments passed: behind n where the salt stands
	cut, total int
	out        prompt
}

// put appends n words of a generator.
func (w *wordWriter) put(seed uint64, n int) {
	rng := wordRNG{state: seed}
	for range n {
		w.add(rng.next())
	}
}

// segment takes the words up to number end from a generator, except where there are words already.
func (w *wordWriter) segment(seed uint64, end int) {
	rng := wordRNG{state: seed}
	for ; w.pos < min(end, w.total); w.pos++ {
		if word := rng.next(); w.pos >= w.n {
			w.add(word)
		}
	}
}

func (w *wordWriter) add(word int) {
	if w.n >= w.total {
		return
	}
	part := &w.out.user
	if w.n < w.cut {
		part = &w.out.system
	}
	if len(*part) > 0 {
		*part = append(*part, ' ')
	}
	*part = append(*part, w.p.words[word]...)
	w.n++
}

// wordRNG draws word numbers below 1024: SplitMix64, six numbers of ten bits a step.
type wordRNG struct {
	state, bits uint64
	left        int
}

func (r *wordRNG) next() int {
	if r.left == 0 {
		r.state += 0x9E3779B97F4A7C15
		r.bits, r.left = mix(r.state), 6
	}
	n := r.bits & 1023
	r.bits >>= 10
	r.left--
	return int(n)
}

func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

func seed(parts ...string) uint64 {
	h := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return binary.LittleEndian.Uint64(h[:])
}

// blockSeed keeps blocks of different recorded models apart: their caches were, and they may go to one model now.
func blockSeed(model string, id int64) uint64 { return mix(seed("block", model) + mix(uint64(id))) }
