package fakellm

import (
	"math"
	"slices"
	"testing"
)

func TestAnswerLength(t *testing.T) {
	fixed := Config{OutputTokens: 50}
	natural := Config{OutputTokens: 50, NaturalStop: true} // sigma 0: always 50
	for _, c := range []struct {
		name   string
		cfg    Config
		r      request
		tokens int
		reason string
	}{
		{"no maximum", fixed, request{}, 50, "stop"},
		{"maximum", fixed, request{maxTokens: 200}, 200, "length"},
		{"natural stop before the maximum", natural, request{maxTokens: 200}, 50, "stop"},
		{"natural stop at the maximum", natural, request{maxTokens: 50}, 50, "length"},
		{"maximum before the natural stop", natural, request{maxTokens: 20}, 20, "length"},
		{"ignore_eos", natural, request{maxTokens: 200, ignoreEOS: true}, 200, "length"},
		{"min_tokens", natural, request{maxTokens: 200, minTokens: 90}, 90, "stop"},
		{"min_tokens is the maximum", natural, request{maxTokens: 200, minTokens: 200}, 200, "length"},
		{"min_tokens without maximum", natural, request{minTokens: 90}, 90, "stop"},
	} {
		if tokens, reason := c.cfg.answerLength(c.r, 7); tokens != c.tokens || reason != c.reason {
			t.Errorf("%s: got %d, %q, want %d, %q", c.name, tokens, reason, c.tokens, c.reason)
		}
	}
}

// Of 10000 natural lengths with median 200 and sigma 0.5, the logarithms have mean ln 200 = 5.298 and deviation 0.5; the
// bounds are about 4 standard errors (0.005 and 0.0035).
func TestNaturalLengths(t *testing.T) {
	cfg := Config{OutputTokens: 200, OutputSigma: 0.5, NaturalStop: true}
	var logs []float64
	for i := range 10000 {
		n, _ := cfg.answerLength(request{}, mix(uint64(i)))
		logs = append(logs, math.Log(float64(n)))
	}
	mean, squares := 0.0, 0.0
	for _, x := range logs {
		mean += x / 10000
	}
	for _, x := range logs {
		squares += (x - mean) * (x - mean) / 10000
	}
	if math.Abs(mean-math.Log(200)) > 0.02 || math.Abs(math.Sqrt(squares)-0.5) > 0.014 {
		t.Errorf("mean %g, deviation %g, want 5.298, 0.5", mean, math.Sqrt(squares))
	}
	slices.Sort(logs)
	if median := math.Exp(logs[5000]); median < 194 || median > 206 {
		t.Errorf("median %g, want 200", median)
	}
}

func TestNewRefuses(t *testing.T) {
	for _, c := range []Config{
		{Slots: -1}, {QueueLimit: -2}, {PrefillChunk: -1}, {BlockTokens: -1}, {CacheBlocks: -2}, {OutputTokens: -1},
		{OutputSigma: math.NaN()}, {MaxBody: -1}, {DecodeBase: -1}, {Pauses: []Pause{{5, 10}, {14, 1}}},
	} {
		if s, err := New(c); err == nil {
			s.Close()
			t.Errorf("New(%+v): got a server, want an error", c)
		}
	}
}
