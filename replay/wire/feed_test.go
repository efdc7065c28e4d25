package wire

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"
)

// step is a read: what came, and how many milliseconds after the request was sent.
type step struct {
	at   int
	text string
}

// feed drives an exchange with reads at given times, without a network and without a clock.
func feed(media string, status int, steps []step) Outcome {
	return feedTo(frame{}, media, status, steps)
}

// shaped is feed for another shape of answer, with the text kept.
func shaped(api API, media string, steps ...step) Outcome {
	return feedTo(frame{api: api, keep: true}, media, 200, steps)
}

func feedTo(f frame, media string, status int, steps []step) Outcome {
	c := NewClient(Options{})
	x := &exchange{frame: f, client: c, call: &Call{}, stamps: &stamps{base: c.base}, watch: newWatch(func() {}, Limits{})}
	defer x.watch.close()
	x.stamps.sent.Store(1)
	x.out.Status = status
	r := &stepReader{x: x, steps: steps}
	x.read(r, media)
	return x.finish(context.Background())
}

type stepReader struct {
	x     *exchange
	steps []step
}

func (r *stepReader) Read(p []byte) (int, error) {
	if len(r.steps) == 0 {
		return 0, io.EOF
	}
	s := r.steps[0]
	n := copy(p, s.text)
	if r.steps[0].text = s.text[n:]; len(s.text) == n {
		r.steps = r.steps[1:]
	}
	r.x.stamps.last.Store(1 + int64(s.at)*1e6)
	r.x.stamps.read.Add(1)
	return n, nil
}

func events(steps ...step) Outcome { return feed("text/event-stream", 200, steps) }

func delta(at int, fields string) step {
	return step{at, `data: {"id":"x1","model":"m","choices":[{"index":0,"delta":{` + fields + `},"finish_reason":null}]}` + "\n\n"}
}

func finish(at int, reason string) step {
	return step{at, `data: {"choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}` + "\n\n"}
}

func usage(at int, in, out string) step {
	return step{at, `data: {"choices":[],"usage":{"prompt_tokens":` + in + `,"completion_tokens":` + out + "}}\n\n"}
}

// done ends a stream as it should be.
func done(at int) step { return step{at, finish(at, "stop").text + marker(at).text} }

// marker is the end marker alone, which gateways send behind a broken stream, too.
func marker(at int) step { return step{at, "data: [DONE]\n\n"} }

func ms(d *time.Duration) int {
	if d == nil {
		return -1
	}
	return int(*d / time.Millisecond)
}

// times returns first, first visible, last and end in milliseconds, -1 for nil.
func times(o Outcome) [4]int {
	return [4]int{ms(o.First()), ms(o.FirstVisible()), ms(o.Last()), ms(o.End)}
}

// gaps returns the distances between the chunks of one choice in milliseconds.
func gaps(o Outcome, choice int16) (list []int) {
	last := time.Duration(-1)
	for _, c := range o.Chunks {
		if c.Choice != choice {
			continue
		}
		if last >= 0 {
			list = append(list, int((c.At-last)/time.Millisecond))
		}
		last = c.At
	}
	return list
}

func wantOK(t *testing.T, o Outcome) {
	t.Helper()
	if o.Class != ClassOK || o.Reason != "" {
		t.Fatalf("got %s %s (%s), want ok", o.Class, o.Reason, o.Code)
	}
}

func wantFail(t *testing.T, o Outcome, class, reason string) {
	t.Helper()
	if o.Class != class || o.Reason != reason {
		t.Fatalf("got %s %q (code %q), want %s %q", o.Class, o.Reason, o.Code, class, reason)
	}
}

func long(n int) string { return strings.Repeat("x", n) }
