package fakellm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestBehaviours asks for 5 tokens in a stream; the engine costs nothing.
func TestBehaviours(t *testing.T) {
	for _, c := range []struct {
		name    string
		do      Behaviour
		want    string
		outcome string
	}{
		{"plain", Behaviour{}, "role text text text text text finish=length done", "length"},
		{"error frame", Behaviour{End: EndError, After: 2}, "role text text error done", "error"},
		{"error frame alone", Behaviour{End: EndError}, "error done", "error"},
		{"marker", Behaviour{End: EndMarker, After: 1}, "role text done", "marker"},
		{"empty", Behaviour{End: EndMarker}, "role done", "marker"},
		{"emptier", Behaviour{End: EndMarker, Role: RoleNone}, "done", "marker"},
		{"cut", Behaviour{End: EndCut, After: 3}, "role text text text", "cut"},
		{"cut at once", Behaviour{End: EndCut}, "", "cut"},
		{"cut in place of the finish", Behaviour{End: EndCut, After: 99}, "role text text text text text", "cut"},
		{"no role", Behaviour{Role: RoleNone}, "text text text text text finish=length done", "length"},
		{"early role", Behaviour{Role: RoleEarly, LateHeaders: true}, "role text text text text text finish=length done", "length"},
		{"shorter", Behaviour{OutputTokens: 1}, "role text finish=stop done", "stop"},
		{"speculative", Behaviour{TokensPerChunk: 3}, "role text text text finish=length done", "length"},
		{"reasoning", Behaviour{ReasoningTokens: 2}, "role reasoning reasoning text text text finish=length done", "length"},
		{
			"reasoning of another name", Behaviour{ReasoningTokens: 9, ReasoningField: "reasoning"},
			"role reasoning reasoning reasoning reasoning reasoning finish=length done", "length",
		},
		{"both in one frame", Behaviour{ReasoningTokens: 2, TokensPerChunk: 4}, "role reasoning both finish=length done", "length"},
		{"tool call", Behaviour{ToolCall: true}, "role tool tool tool tool tool finish=tool_calls done", "tool_calls"},
		{
			"reasoning, then tool call", Behaviour{ToolCall: true, ReasoningTokens: 3},
			"role reasoning reasoning reasoning tool tool finish=tool_calls done", "tool_calls",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLab(t, Config{Behave: Rules{{Do: c.do}}.For})
			a := l.post(t.Context(), chatPath, "x", threeWords+`,"stream":true,"max_tokens":5}`)
			if diff := cmp.Diff(c.want, strings.Join(a.kinds(t), " ")); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			if cut := errors.Is(a.err, io.ErrUnexpectedEOF); cut != (c.outcome == "cut") || a.status != 200 {
				t.Errorf("status %d, error %v", a.status, a.err)
			}
			r := l.request("x")
			if r.Outcome != c.outcome || len(r.WrittenUS) > len(r.ChunkUS) {
				t.Errorf("truth %+v", r)
			}
		})
	}
}

func TestToolCallPieces(t *testing.T) {
	for tokens := 1; tokens <= 4; tokens++ {
		l := newLab(t, Config{Behave: Rules{{Do: Behaviour{ToolCall: true}}}.For})
		a := l.post(t.Context(), chatPath, "", fmt.Sprintf(`%s,"stream":true,"max_tokens":%d}`, threeWords, tokens))
		name, text := "", ""
		for _, e := range a.events()[1 : 1+tokens] {
			call := decoded(t, e).Choices[0].Delta.ToolCalls[0]
			name, text = name+call.Function.Name, text+call.Function.Arguments
		}
		if q := arguments(t, text); name != "lookup" || len(strings.Fields(q)) != tokens-1 {
			t.Errorf("%d tokens: call %s(%s)", tokens, name, text)
		}
	}
}

func TestStatusAndHeaders(t *testing.T) {
	l := newLab(t, Config{Behave: Rules{
		{ID: "busy", Do: Behaviour{Status: 429, RetryAfter: 24 * time.Hour}}, {ID: "down", Do: Behaviour{Status: 503}},
		{ID: "type", Do: Behaviour{ContentType: "text/html"}}, {ID: "wrong", Do: Behaviour{After: -1}},
	}.For})
	body := threeWords + `,"stream":true,"max_tokens":1}`
	if a := l.post(t.Context(), chatPath, "busy", body); a.status != 429 || a.header.Get("Retry-After") != "86400" {
		t.Errorf("busy: %d %v", a.status, a.header)
	}
	if a := l.post(t.Context(), chatPath, "down", body); a.status != 503 || a.header.Get("Retry-After") != "" {
		t.Errorf("down: %d %v", a.status, a.header)
	}
	if a := l.post(t.Context(), chatPath, "type", body); a.status != 200 || a.header.Get("Content-Type") != "text/html" {
		t.Errorf("type: %d %v", a.status, a.header)
	}
	if a := l.post(t.Context(), chatPath, "wrong", body); a.status != 500 || !strings.Contains(a.body, "Config.Behave") {
		t.Errorf("wrong: %d %s", a.status, a.body)
	}
}

func TestUnaryEnds(t *testing.T) {
	l := newLab(t, Config{Behave: Rules{
		{ID: "error", Do: Behaviour{End: EndError}}, {ID: "cut", Do: Behaviour{End: EndCut}},
		{ID: "marker", Do: Behaviour{End: EndMarker}},
	}.For})
	if a := l.post(t.Context(), chatPath, "error", threeWords+`}`); a.status != 500 || decoded(t, a.body).Error.Code != 500 {
		t.Errorf("error: %d %s", a.status, a.body)
	}
	if a := l.post(t.Context(), chatPath, "cut", threeWords+`}`); !errors.Is(a.err, io.ErrUnexpectedEOF) {
		t.Errorf("cut: %+v", a)
	}
	if a := l.post(t.Context(), chatPath, "marker", threeWords+`}`); a.status != 200 || len(decoded(t, a.body).Choices) != 0 {
		t.Errorf("marker: %+v", a)
	}
}

// Silence lasts until the client goes, or the server; the engine makes the tokens all the same.
func TestSilence(t *testing.T) {
	for _, stream := range []string{"true", "false"} {
		l := newLab(t, Config{Behave: Rules{{Do: Behaviour{End: EndSilence, After: 2}}}.For})
		ctx, cancel := context.WithTimeout(t.Context(), 50*ms)
		a := l.post(ctx, chatPath, "client", threeWords+`,"max_tokens":5,"stream":`+stream+`}`)
		cancel()
		if !errors.Is(a.err, context.DeadlineExceeded) || strings.Contains(a.body, "DONE") {
			t.Errorf("stream %s: %+v", stream, a)
		}
		ended := make(chan answer)
		go func() {
			ended <- l.post(t.Context(), chatPath, "server", threeWords+`,"max_tokens":5,"stream":`+stream+`}`)
		}()
		for len(l.Truth().Steps) < 10 {
			time.Sleep(ms)
		}
		l.Close()
		if a := <-ended; a.err == nil {
			t.Errorf("stream %s, closed server: got an answer %+v", stream, a)
		}
	}
}

// Chunks 3 to 5 of 5 are made at 10, 20, 30 ms after the second and written together 100 ms after the third was made.
func TestHold(t *testing.T) {
	l := newLab(t, Config{DecodeBase: 10 * ms, Behave: Rules{{Do: Behaviour{HoldFor: 100 * ms, HoldAfter: 2}}}.For})
	a := l.post(t.Context(), chatPath, "x", threeWords+`,"stream":true,"max_tokens":5}`)
	if diff := cmp.Diff("role text text text text text finish=length done", strings.Join(a.kinds(t), " ")); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	r := l.request("x")
	if *r.HeldFromUS != r.ChunkUS[2] || *r.HeldToUS != r.ChunkUS[2]+100_000 {
		t.Errorf("held from %d to %d, third chunk at %d", *r.HeldFromUS, *r.HeldToUS, r.ChunkUS[2])
	}
	w := r.WrittenUS
	if w[1] >= *r.HeldToUS || w[2] < *r.HeldToUS || w[3] != w[2] || w[4] != w[2] {
		t.Errorf("written %v, held until %d", w, *r.HeldToUS)
	}
	if r.ChunkUS[4] != r.ChunkUS[2]+20_000 {
		t.Errorf("made %v: the engine must go on", r.ChunkUS)
	}
}

// The prefill takes 50 ms, so comments every 10 ms come before the first token, and none after it.
func TestKeepAlive(t *testing.T) {
	l := newLab(t, Config{PrefillBase: 50 * ms, DecodeBase: 15 * ms, Behave: Rules{{Do: Behaviour{KeepAlive: 10 * ms}}}.For})
	a := l.post(t.Context(), chatPath, "x", threeWords+`,"stream":true,"max_tokens":3}`)
	got := strings.Join(a.kinds(t), " ")
	rest := strings.TrimLeft(got, "coment ")
	if comments := strings.Count(got, "comment"); comments < 1 || comments > 4 {
		t.Errorf("%d comments, want 1 to 4 (one each 10 ms of 50)", comments)
	}
	if !strings.HasPrefix(got, "comment ") || rest != "role text text text finish=length done" {
		t.Errorf("events %s", got)
	}
}

// The prefill takes an hour: headers, and a role frame that goes early, are there meanwhile; late headers are not.
func TestBeforeTheFirstToken(t *testing.T) {
	l := newLab(t, Config{Slots: 3, PrefillBase: time.Hour, Behave: Rules{
		{ID: "early", Do: Behaviour{Role: RoleEarly}}, {ID: "late", Do: Behaviour{LateHeaders: true}},
	}.For})
	for id, want := range map[string]string{"plain": "200 ", "early": "200 role", "late": "0 "} {
		ctx, cancel := context.WithTimeout(t.Context(), 100*ms)
		a := l.post(ctx, chatPath, id, threeWords+`,"stream":true}`)
		cancel()
		if got := fmt.Sprintf("%d %s", a.status, strings.Join(a.kinds(t), " ")); got != want {
			t.Errorf("%s: got %q, want %q", id, got, want)
		}
	}
}
