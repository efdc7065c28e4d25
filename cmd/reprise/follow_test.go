package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// heard is what a command has printed so far.
type heard struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.b.Write(p)
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.b.String()
}

func (h *heard) wait(t *testing.T, text string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !strings.Contains(h.String(), text); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never %q in\n%s", text, h.String())
		}
	}
}

// A log that grows is shown anew; an interrupt is the ordinary end, and the run that is left holds all of it.
func TestFollow(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	t.Setenv("XDG_CACHE_HOME", dir)
	log, run, page := filepath.Join(dir, "log.jsonl"), filepath.Join(dir, "run"), filepath.Join(dir, "page.html")
	write := func(from, to int) {
		f, err := os.OpenFile(log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for i := from; i < to; i++ {
			fmt.Fprintf(f, `{"request_id":"r%d","arrival":%d,"first_us":200000,"end_us":1000000,"output_tokens":5,"stream":true,"error_class":"ok"}`+"\n", i, 1794182400000000+i*1_000_000)
		}
	}
	write(0, 0)
	var out, talk heard
	ctx, interrupt := context.WithCancel(context.Background())
	defer interrupt()
	ended := make(chan int)
	go func() {
		ended <- (&app{out: &out, err: &talk}).run(ctx, []string{"analyze", "--follow", log, "--every", "1s", "-o", run, "--html", page})
	}()
	talk.wait(t, "no request yet")
	write(0, 100)
	out.wait(t, "100 attempts")
	write(100, 130)
	out.wait(t, "130 attempts")
	out.wait(t, "Goodput over time")
	interrupt()
	if code := <-ended; code != exitOK {
		t.Errorf("exit code %d: %s", code, talk.String())
	}
	if !strings.Contains(talk.String(), "next: reprise analyze "+run) || strings.Contains(out.String(), "\x1b") {
		t.Errorf("%s\n%s", talk.String(), out.String())
	}
	if b, err := os.ReadFile(page); err != nil || !bytes.Contains(b, []byte("130 attempts")) {
		t.Errorf("the page is not that of the end: %v", err)
	}
	out = heard{}
	if code := (&app{out: &out, err: &talk}).run(context.Background(), []string{"query", "overview", run, "--format", "csv"}); code != exitOK || !strings.Contains(out.String(), "all,130,130,130,") {
		t.Errorf("exit code %d\n%s", code, out.String())
	}
	for _, wrong := range [][]string{{"--follow", run}, {"--follow", log, "--format", "json"}, {"--follow", log, "--every", "1ms"}, {log, "-o", run}} {
		if code := (&app{out: &out, err: &talk}).run(context.Background(), append([]string{"analyze"}, wrong...)); code != exitUsage {
			t.Errorf("%v: exit code %d", wrong, code)
		}
	}
	if code := (&app{out: &out, err: &talk}).run(context.Background(), []string{"analyze", "--follow", log, "-o", run}); code != exitError || !strings.Contains(talk.String(), "there is a run already") {
		t.Errorf("exit code %d: %s", code, talk.String())
	}
}

// On a terminal the picture is drawn over the one before, and never more than there is room for: 3 rows, of which a line of 25
// runes takes 3 at a width of 10.
func TestRedraw(t *testing.T) {
	for _, c := range []struct {
		text   string
		height int
		want   string
	}{
		{"one\ntwo\nthree\n", 3, "\x1b[Hone\x1b[K\r\ntwo\x1b[K\r\n\x1b[J"},
		{"one\n" + strings.Repeat("ö", 25) + "\nthree\n", 4, "\x1b[Hone\x1b[K\r\n\x1b[J"},
		{"\x1b[31m" + strings.Repeat("x", 10) + "\x1b[0m\nb\n", 3, "\x1b[H\x1b[31mxxxxxxxxxx\x1b[0m\x1b[K\r\nb\x1b[K\r\n\x1b[J"},
		{"one\ntwo\n", 0, "one\ntwo\n\n"},
	} {
		var out bytes.Buffer
		if err := (&app{out: &out}).redraw(c.text, 10, c.height); err != nil || out.String() != c.want {
			t.Errorf("%q, want %q (%v)", out.String(), c.want, err)
		}
	}
}
