package fakellm

import (
	"errors"
	"fmt"
	"io"
	"time"
)

// Config describes one engine and its front. The zero value is an engine of no cost with one slot: a null target that
// answers at once.
type Config struct {
	// Models are the names served; a request for another gets 404. The first is used when a request names none.
	// Empty: {"fake"}.
	Models []string

	// Slots is the most streams in the engine at once, prefilling or decoding. 0: 1.
	Slots int
	// QueueLimit is how many requests may wait beyond Slots; the next is refused with 429. 0: no limit; -1: none may wait.
	QueueLimit int

	// DecodeBase is the cost of a step in which one stream decodes; DecodePerRunning is added for each further one.
	DecodeBase, DecodePerRunning time.Duration
	// PrefillBase is the cost of a step that prefills, beside PrefillPerToken for each uncached prompt token in it.
	PrefillBase, PrefillPerToken time.Duration
	// PrefillChunk is the most prompt tokens a step prefills, shared in order of arrival. 0: no limit (whole prompts,
	// which hold up every decoding stream).
	PrefillChunk int

	// BlockTokens is the size of a prefix cache block in tokens. 0: 16.
	BlockTokens int
	// CacheBlocks is how many blocks the prefix cache holds. 0: no cache; -1: no limit.
	CacheBlocks int

	// Seed decides output words, natural lengths and rules with a share. A request's draw depends on the seed and its
	// x-request-id (its ordinal when it has none), not on the order of arrival.
	Seed uint64
	// NaturalStop lets an answer end before max_tokens, at a drawn length, unless the request says ignore_eos.
	NaturalStop bool
	// OutputTokens is the median of natural lengths, and the length of an answer when the request names no maximum.
	// 0: 128.
	OutputTokens int
	// OutputSigma is the standard deviation of the logarithm of natural lengths (log-normal). 0: all OutputTokens.
	OutputSigma float64

	// Pauses stop the whole engine at set times, as a collector or a frozen host does. In order of At, not overlapping.
	Pauses []Pause
	// Timeline, when set, takes the place of the engine.
	Timeline *Timeline
	// Behave chooses what is special about a request; nil: nothing. It is called from many goroutines. Rules.For is one.
	Behave func(Call) Behaviour

	// APIKey, when set, is asked for as a bearer token; a request without it gets 401.
	APIKey string
	// MaxBody is the largest request body in bytes; a larger one gets 413. 0: 64 MiB.
	MaxBody int64

	// Truth receives what happened as JSON lines (see Truth), all of it once Close has returned. nil: none.
	Truth io.Writer
	// KeepTruth keeps the same in memory for Server.Truth.
	KeepTruth bool
}

// Pause stops the engine for For at time At since New. A step that runs at At ends For later; no step starts within.
type Pause struct {
	At, For time.Duration
}

// maxOutput bounds max_tokens, so that one request cannot hold the memory of a million chunk times.
const maxOutput = 1 << 20

// withDefaults fills zero fields and refuses values that have no meaning.
func (c Config) withDefaults() (Config, error) {
	if len(c.Models) == 0 {
		c.Models = []string{"fake"}
	}
	c.Slots = orElse(c.Slots, 1)
	c.BlockTokens = orElse(c.BlockTokens, 16)
	c.OutputTokens = orElse(c.OutputTokens, 128)
	c.MaxBody = orElse(c.MaxBody, 64<<20)
	return c, errors.Join(c.checkCounts(), c.checkTimes(), c.Timeline.check())
}

func orElse[T int | int64](v, otherwise T) T {
	if v == 0 {
		return otherwise
	}
	return v
}

func (c Config) checkCounts() error {
	switch {
	case c.Slots < 1:
		return fmt.Errorf("slots: want at least 1, got %d", c.Slots)
	case c.QueueLimit < -1:
		return fmt.Errorf("queue limit: want -1 or more, got %d", c.QueueLimit)
	case c.PrefillChunk < 0:
		return fmt.Errorf("prefill chunk: want 0 or more tokens, got %d", c.PrefillChunk)
	case c.BlockTokens < 1:
		return fmt.Errorf("block tokens: want at least 1, got %d", c.BlockTokens)
	case c.CacheBlocks < -1:
		return fmt.Errorf("cache blocks: want -1 or more, got %d", c.CacheBlocks)
	case c.OutputTokens < 1 || c.OutputTokens > maxOutput:
		return fmt.Errorf("output tokens: want 1 to %d, got %d", maxOutput, c.OutputTokens)
	case !(c.OutputSigma >= 0 && c.OutputSigma <= 10):
		return fmt.Errorf("output sigma: want 0 to 10, got %g", c.OutputSigma)
	case c.MaxBody < 1:
		return fmt.Errorf("max body: want at least 1 byte, got %d", c.MaxBody)
	}
	return nil
}

func (c Config) checkTimes() error {
	for _, d := range []time.Duration{c.DecodeBase, c.DecodePerRunning, c.PrefillBase, c.PrefillPerToken} {
		if d < 0 {
			return fmt.Errorf("step cost: want 0 or more, got %s", d)
		}
	}
	end := time.Duration(0)
	for _, p := range c.Pauses {
		if p.At < end || p.For < 0 {
			return fmt.Errorf("pauses: want times in order, not overlapping, got %s for %s", p.At, p.For)
		}
		end = p.At + p.For
	}
	return nil
}
