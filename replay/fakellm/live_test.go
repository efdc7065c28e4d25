package fakellm

import (
	"context"
	"fmt"
	"net/http/httptrace"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A live run and the model told of the same arrivals and cancellations make the same steps and the same chunks, to the
// microsecond, however late the machine ran: 60 requests over real sockets, in chunks, with a shared prefix, a queue, a
// pause and clients that go away.
func TestLiveRunIsTheModel(t *testing.T) {
	cfg := Config{
		Slots: 6, DecodeBase: 2 * ms, DecodePerRunning: 301 * time.Microsecond, PrefillBase: ms,
		PrefillPerToken: 20501 * time.Nanosecond, PrefillChunk: 64, CacheBlocks: 20, BlockTokens: 8,
		Pauses: []Pause{{100 * ms, 40 * ms}},
		Behave: func(c Call) Behaviour { return Behaviour{TokensPerChunk: c.PromptTokens % 3} },
	}
	l := newLab(t, cfg)
	arrivals := sendMixed(l)
	live := make(map[string]RequestTruth)
	var told []Arrival
	for _, a := range arrivals {
		r := l.request(a.ID)
		if r.EnqueuedUS == nil { // gone before the server came to it: the engine never saw it
			continue
		}
		a.At, a.Stride = time.Duration(*r.EnqueuedUS)*time.Microsecond, r.PromptTokens%3
		if r.CancelledUS != nil {
			a.CancelAt = time.Duration(*r.CancelledUS) * time.Microsecond
		}
		live[a.ID], told = r, append(told, a)
	}
	l.Close()
	model, err := Simulate(cfg, told)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(model.Steps, l.Truth().Steps); diff != "" || len(model.Steps) < 100 {
		t.Errorf("%d steps (-model +live):\n%s", len(model.Steps), diff)
	}
	cached := 0
	for _, m := range model.Requests {
		r := live[m.ID]
		if diff := cmp.Diff([][]int64{m.ChunkUS}, [][]int64{r.ChunkUS}); diff != "" || r.CachedTokens != m.CachedTokens {
			t.Errorf("%s: cached %d and %d, chunks (-model +live):\n%s", m.ID, m.CachedTokens, r.CachedTokens, diff)
		}
		for i, at := range r.WrittenUS {
			if at < r.ChunkUS[i] {
				t.Errorf("%s: chunk %d written at %d, before it was made at %d", r.ID, i, at, r.ChunkUS[i])
			}
		}
		cached += m.CachedTokens
	}
	if cached == 0 {
		t.Error("no prompt met a cached prefix: this test should")
	}
}

// sendMixed sends 60 requests 3 ms apart, of which each tenth goes away 20 ms after it was written, and waits for their ends.
func sendMixed(l lab) (arrivals []Arrival) {
	var wait sync.WaitGroup
	for i := range 60 {
		a := Arrival{
			ID: fmt.Sprint("r", i), Prompt: text("shared", i%5*16) + text(fmt.Sprint("own", i), i*7%90+1), Output: i*13%23 + 1,
		}
		arrivals = append(arrivals, a)
		wait.Go(func() {
			ctx, cancel := context.WithCancel(l.t.Context())
			defer cancel()
			if i%10 == 9 {
				ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
					WroteRequest: func(httptrace.WroteRequestInfo) { time.AfterFunc(20*ms, cancel) },
				})
			}
			l.post(ctx, textPath, a.ID, fmt.Sprintf(`{"prompt":%q,"stream":true,"max_tokens":%d}`, a.Prompt, a.Output))
		})
		time.Sleep(3 * ms)
	}
	wait.Wait()
	return arrivals
}
