package fakellm

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const ms = time.Millisecond

// text is a prompt of n words that no other name shares.
func text(name string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s%d ", name, i)
	}
	return b.String()
}

// table renders steps as "start-end decoding/running+waiting [id:tokens ...] [paused=..]", times in ms.
func table(steps []StepTruth) (lines []string) {
	for _, s := range steps {
		line := fmt.Sprintf("%g-%g %d/%d+%d", float64(s.StartUS)/1000, float64(s.EndUS)/1000, s.Decoding, s.Running, s.Waiting)
		for _, p := range s.Prefill {
			line += fmt.Sprintf(" %s:%d", p.ID, p.Tokens)
		}
		if s.PausedUS > 0 {
			line += fmt.Sprintf(" paused=%g", float64(s.PausedUS)/1000)
		}
		lines = append(lines, line)
	}
	return lines
}

// chunks renders a request as "id outcome queued=.. cached=.. chunk times in ms".
func chunks(requests []RequestTruth) (lines []string) {
	for _, r := range requests {
		line := r.ID + " " + r.Outcome
		if r.QueuedUS != nil {
			line += fmt.Sprintf(" queued=%g", float64(*r.QueuedUS)/1000)
		}
		if r.CachedTokens > 0 {
			line += fmt.Sprintf(" cached=%d", r.CachedTokens)
		}
		for i, at := range r.ChunkUS {
			line += fmt.Sprintf(" %g", float64(at)/1000)
			if n := r.ChunkTokens[i]; n != 1 {
				line += fmt.Sprintf("x%d", n)
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// costly is the engine of the worked schedules: a decode step of R streams takes 10+(R-1) ms, a prefill 5 ms and 1 ms a
// token.
func costly(slots int) Config {
	return Config{
		Slots: slots, DecodeBase: 10 * ms, DecodePerRunning: ms, PrefillBase: 5 * ms, PrefillPerToken: ms, BlockTokens: 4,
	}
}

// schedule is one hand-worked run of the model.
type schedule struct {
	name     string
	cfg      Config
	arrivals []Arrival
	steps    []string
	requests []string
}

func checkAll(t *testing.T, schedules ...schedule) {
	for _, s := range schedules {
		t.Run(s.name, s.check)
	}
}

func (s schedule) check(t *testing.T) {
	t.Helper()
	got, err := Simulate(s.cfg, s.arrivals)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s.steps, table(got.Steps)); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(s.requests, chunks(got.Requests)); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func with(c Config, change func(*Config)) Config {
	change(&c)
	return c
}

func TestPrefillSchedules(t *testing.T) {
	// A has 10 prompt tokens and makes 4; B arrives at 16 ms, has 20 and makes 2.
	pair := []Arrival{
		{ID: "A", Prompt: text("a", 10), Output: 4},
		{ID: "B", At: 16 * ms, Prompt: text("b", 20), Output: 2},
	}
	checkAll(t,
		schedule{
			// 5+10 for A's prompt. 10 for A. Then B's whole prompt is in A's step: 10 + 5+20 = 35. Then both: 10+1.
			name: "whole prompts hold up decoding", cfg: costly(4), arrivals: pair,
			steps:    []string{"0-15 0/1+0 A:10", "15-25 1/1+0", "25-60 1/2+0 B:20", "60-71 2/2+0"},
			requests: []string{"A length queued=0 15 25 60 71", "B length queued=9 60 71"},
		},
		schedule{
			// 5+8, 5+2 for A. Then A decodes beside chunks of B: 10+5+8 twice, 10+5+4. A is done; B alone: 10.
			// B arrived while the second step ran (13-20), so it waits 4.
			name: "chunks of 8", cfg: with(costly(4), func(c *Config) { c.PrefillChunk = 8 }), arrivals: pair,
			steps: []string{
				"0-13 0/1+0 A:8", "13-20 0/1+0 A:2", "20-43 1/2+0 B:8", "43-66 1/2+0 B:8", "66-85 1/2+0 B:4", "85-95 1/1+0",
			},
			requests: []string{"A length queued=0 20 43 66 85", "B length queued=4 85 95"},
		},
		schedule{
			// The budget of 8 is A's 6 and 2 of B; C gets no budget, so no slot. Next: A decodes (10), B's 4 and 4 of C
			// (5+8). Next: A is done; B decodes, C's last 2: 10+5+2. Next: C alone.
			name: "a chunk shared in order of arrival", cfg: with(costly(4), func(c *Config) { c.PrefillChunk = 8 }),
			arrivals: []Arrival{
				{ID: "A", Prompt: text("a", 6), Output: 2}, {ID: "B", Prompt: text("b", 6), Output: 2},
				{ID: "C", Prompt: text("c", 6), Output: 2},
			},
			steps:    []string{"0-13 0/2+1 A:6 B:2", "13-36 1/3+0 B:4 C:4", "36-53 1/2+0 C:2", "53-63 1/1+0"},
			requests: []string{"A length queued=0 13 36", "B length queued=0 36 53", "C length queued=13 53 63"},
		},
	)
}

func TestQueueSchedules(t *testing.T) {
	checkAll(t,
		schedule{
			// One slot: 5+3, then two decode steps of 10, so each takes 28. B waits 28-1, C 56-2.
			name: "one slot", cfg: costly(1),
			arrivals: []Arrival{
				{ID: "A", Prompt: text("a", 3), Output: 3}, {ID: "B", At: ms, Prompt: text("b", 3), Output: 3},
				{ID: "C", At: 2 * ms, Prompt: text("c", 3), Output: 3},
			},
			steps: []string{
				"0-8 0/1+0 A:3", "8-18 1/1+2", "18-28 1/1+2",
				"28-36 0/1+1 B:3", "36-46 1/1+1", "46-56 1/1+1",
				"56-64 0/1+0 C:3", "64-74 1/1+0", "74-84 1/1+0",
			},
			requests: []string{
				"A length queued=0 8 18 28", "B length queued=27 36 46 56", "C length queued=54 64 74 84",
			},
		},
		schedule{
			// One may wait. C comes while A has the slot and B waits. D comes at 19, A's slot is free since 19 (8+10=18).
			name: "a full queue refuses", cfg: with(costly(1), func(c *Config) { c.QueueLimit = 1 }),
			arrivals: []Arrival{
				{ID: "A", Prompt: text("a", 3), Output: 2}, {ID: "B", At: ms, Prompt: text("b", 3), Output: 1},
				{ID: "C", At: 2 * ms, Prompt: text("c", 3), Output: 1}, {ID: "D", At: 19 * ms, Prompt: text("d", 3), Output: 1},
			},
			steps:    []string{"0-8 0/1+0 A:3", "8-18 1/1+1", "18-26 0/1+0 B:3", "26-34 0/1+0 D:3"},
			requests: []string{"A length queued=0 8 18", "B length queued=17 26", "C refused", "D length queued=7 34"},
		},
		schedule{
			// QueueLimit -1: none may wait.
			name: "no queue", cfg: with(costly(1), func(c *Config) { c.QueueLimit = -1 }),
			arrivals: []Arrival{
				{ID: "A", Prompt: text("a", 3), Output: 1}, {ID: "B", At: 7 * ms, Prompt: text("b", 3), Output: 1},
				{ID: "C", At: 8 * ms, Prompt: text("c", 3), Output: 1},
			},
			steps:    []string{"0-8 0/1+0 A:3", "8-16 0/1+0 C:3"},
			requests: []string{"A length queued=0 8", "B refused", "C length queued=0 16"},
		},
	)
}

func TestOtherSchedules(t *testing.T) {
	checkAll(t,
		schedule{
			// The engine sleeps from 8 to 100. B arrives at the very end of A's second life: 100+8=108, and joins the step
			// that starts then.
			name: "idle, and an arrival at the start of a step", cfg: costly(2),
			arrivals: []Arrival{
				{ID: "A", Prompt: text("a", 3), Output: 1}, {ID: "C", At: 100 * ms, Prompt: text("c", 3), Output: 2},
				{ID: "B", At: 108 * ms, Prompt: text("b", 3), Output: 1},
			},
			steps: []string{"0-8 0/1+0 A:3", "100-108 0/1+0 C:3", "108-126 1/2+0 B:3"},
			requests: []string{
				"A length queued=0 8", "C length queued=0 108 126", "B length queued=0 126",
			},
		},
		schedule{
			// Chunks of 3 after the first token: 1+3+3+1 = 8 tokens.
			name: "speculative chunks", cfg: costly(1),
			arrivals: []Arrival{{ID: "A", Prompt: text("a", 3), Output: 8, Stride: 3}},
			steps:    []string{"0-8 0/1+0 A:3", "8-18 1/1+0", "18-28 1/1+0", "28-38 1/1+0"},
			requests: []string{"A length queued=0 8 18x3 28x3 38"},
		},
		schedule{
			// The pause at 10 lies in the step 8-18, which ends 50 later; that of 100 is met idle, so B starts at 130.
			name: "pauses",
			cfg:  with(costly(1), func(c *Config) { c.Pauses = []Pause{{10 * ms, 50 * ms}, {100 * ms, 30 * ms}} }),
			arrivals: []Arrival{
				{ID: "A", Prompt: text("a", 3), Output: 2}, {ID: "B", At: 110 * ms, Prompt: text("b", 3), Output: 1},
			},
			steps:    []string{"0-8 0/1+0 A:3", "8-68 1/1+0 paused=50", "130-138 0/1+0 B:3"},
			requests: []string{"A length queued=0 8 68", "B length queued=20 138"},
		},
		schedule{
			// The second pause falls into what the first added: 8 + 10 + 50 = 68, and 5 more.
			name:     "a pause within the wait for another",
			cfg:      with(costly(1), func(c *Config) { c.Pauses = []Pause{{10 * ms, 50 * ms}, {65 * ms, 5 * ms}} }),
			arrivals: []Arrival{{ID: "A", Prompt: text("a", 3), Output: 2}},
			steps:    []string{"0-8 0/1+0 A:3", "8-73 1/1+0 paused=55"},
			requests: []string{"A length queued=0 8 73"},
		},
		schedule{
			// A is cancelled at 12 in the step 8-18: its token of that step is not made, B gets the slot at 18.
			// C is cancelled while it waits and never runs.
			name: "cancelled", cfg: costly(1),
			arrivals: []Arrival{
				{ID: "A", Prompt: text("a", 3), Output: 9, CancelAt: 12 * ms}, {ID: "B", At: ms, Prompt: text("b", 3), Output: 1},
				{ID: "C", At: ms, Prompt: text("c", 3), Output: 1, CancelAt: 5 * ms},
			},
			steps:    []string{"0-8 0/1+0 A:3", "8-18 1/1+1", "18-26 0/1+0 B:3"},
			requests: []string{"A cancelled queued=0 8", "B length queued=17 26", "C cancelled"},
		},
	)
}

func TestSimulateRefuses(t *testing.T) {
	for _, a := range []Arrival{{Output: 0}, {Output: 1, Stride: -1}, {Output: 1, At: -1}, {Output: 1, At: 9, CancelAt: 8}} {
		if _, err := Simulate(Config{}, []Arrival{a}); err == nil {
			t.Errorf("%+v: want an error", a)
		}
	}
}
