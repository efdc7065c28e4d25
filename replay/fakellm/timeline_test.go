package fakellm

import (
	"slices"
	"testing"
	"time"
)

// By hand: first token 100 ms after arrival, then 20 ms, each third gap 200.
func TestTimeline(t *testing.T) {
	cfg := Config{Timeline: &Timeline{First: 100 * time.Millisecond, Gap: 20 * time.Millisecond, Every: 3, Stall: 200 * time.Millisecond}}
	ms := time.Millisecond
	truth, err := Simulate(cfg, []Arrival{{ID: "a", Prompt: "x y", Output: 6}, {ID: "b", At: 50 * ms, Prompt: "x", Output: 2}, {ID: "c", At: 10 * ms, Prompt: "x", Output: 5, CancelAt: 125 * ms}})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]int64{{100_000, 120_000, 140_000, 340_000, 360_000, 380_000}, {110_000}, {150_000, 170_000}} {
		if got := truth.Requests[i].ChunkUS; !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", truth.Requests[i].ID, got, want)
		}
	}
	if _, err := New(Config{Timeline: &Timeline{}}); err == nil {
		t.Error("a first token at once is not refused")
	}
}

// An arrival while the loop waits out a stall is not late.
func TestTimelineListensWhileItWaits(t *testing.T) {
	l := newLab(t, Config{Timeline: &Timeline{First: 20 * time.Millisecond, Every: 1, Stall: 600 * time.Millisecond}})
	done := make(chan answer, 2)
	for i := range 2 {
		go func() {
			done <- l.post(t.Context(), textPath, "", `{"model":"fake","prompt":"a b","max_tokens":2,"stream":true}`)
		}()
		if i == 0 {
			time.Sleep(200 * time.Millisecond)
		}
	}
	<-done
	<-done
	for _, r := range l.Truth().Requests {
		if len(r.ChunkUS) != 2 || r.ChunkUS[0] != *r.EnqueuedUS+20_000 || r.WritingUS[0]-r.ChunkUS[0] > 200_000 {
			t.Errorf("%s: arrived %d, chunks %v, written %v", r.ID, *r.EnqueuedUS, r.ChunkUS, r.WritingUS)
		}
	}
}
