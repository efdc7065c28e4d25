package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// do runs a command line and returns what it said; it must end well.
func do(t *testing.T, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	a := &app{out: &out, err: &err}
	if code := a.run(context.Background(), args); code != exitOK {
		t.Fatalf("reprise %s: exit code %d\n%s%s", strings.Join(args, " "), code, out.String(), err.String())
	}
	return out.String(), err.String()
}

func home(t *testing.T) {
	t.Helper()
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
}

// someRows are rows of several formats with everything that can be known, or unknown, of them.
func someRows(rng *rand.Rand, n int) []trace.Request {
	maybe := func(v int64) *int64 {
		if rng.IntN(3) == 0 {
			return nil
		}
		return &v
	}
	name := func(kind string) string { return []string{"", kind + "1", kind + "2"}[rng.IntN(3)] }
	rows := make([]trace.Request, n)
	for i := range rows {
		r := &rows[i]
		*r = trace.Request{RequestID: fmt.Sprintf("r%d", i), RootRequestID: fmt.Sprintf("r%d", i/2*2), Attempt: int32(1 + i%2), SessionID: name("s"),
			Arrival: maybe(1_796_000_000_000_000 + rng.Int64N(3*86_400_000_000)), EndUS: maybe(5_000_000 + rng.Int64N(1e9)), QueueUS: maybe(rng.Int64N(1000)),
			Vantage: []string{trace.Client, trace.Gateway, trace.Engine}[rng.IntN(3)], ClockDomain: trace.Wall, TimePrecision: 1000,
			ErrorClass: []string{trace.ClassOK, trace.ClassCancel, trace.ClassUnknown}[rng.IntN(3)], EndpointKind: "chat", FinishReason: "stop",
			Tenant: name("t"), App: name("a"), Route: name("/v1/"), ModelRequested: name("m"), ModelServed: name("m"), Replica: name("10.0.0.7:800"),
			KeyHash: name("k"), UserHash: name("u"), SystemPromptHash: name("h"), InputTokens: maybe(100 + rng.Int64N(1000)), OutputTokens: maybe(1 + rng.Int64N(90)),
			CachedInputTokens: maybe(rng.Int64N(100)), SystemPromptTokens: maybe(rng.Int64N(50)), SourceFormat: []string{"otlp", "litellm"}[rng.IntN(2)], SourceLine: int64(i)}
		if rng.IntN(2) == 0 {
			r.Stream, r.GapsUS, r.ChunkTokens = trace.Ptr(true), []int32{900, 3, 5}, []int32{1, 2, 3}
		}
		for range rng.IntN(4) {
			r.PrefixHashIDs = append(r.PrefixHashIDs, rng.Int64()-1<<62)
		}
		if r.InputTokens != nil || r.OutputTokens != nil {
			r.TokensSource = "usage"
		}
		trace.Check(r)
	}
	return rows
}

func makeRun(t *testing.T, rows []trace.Request) string {
	t.Helper()
	run := filepath.Join(t.TempDir(), "run")
	w, err := trace.NewWriter(run)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if err := w.Add(&r); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := w.Commit("part", nil); err != nil {
		t.Fatal(err)
	}
	return run
}

// stored reads a run; rows in an order that does not depend on their names.
func stored(t *testing.T, run string) []trace.Request {
	t.Helper()
	parts, err := trace.Parts(run)
	if err != nil {
		t.Fatal(err)
	}
	var rows []trace.Request
	for r, err := range trace.Read(parts...) {
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r)
	}
	return rows
}

// What is exported as JSON lines and ingested again is the same run, but for names and where it was read from.
func TestExportRoundTrip(t *testing.T) {
	home(t)
	for seed := range uint64(5) {
		run := makeRun(t, someRows(rand.New(rand.NewPCG(seed, 9)), 300))
		file, again := filepath.Join(t.TempDir(), "x.jsonl"), filepath.Join(t.TempDir(), "again")
		do(t, "export", run, "--to", "jsonl", "-o", file)
		do(t, "ingest", file, "-o", again)
		want, got := stored(t, run), stored(t, again)
		if len(got) != len(want) {
			t.Fatalf("%d rows became %d", len(want), len(got))
		}
		key, _, err := loadKey("")
		if err != nil {
			t.Fatal(err)
		}
		h := decode.NewHasher(key)
		slices.SortFunc(want, func(a, b trace.Request) int {
			return strings.Compare(h.Name("id", a.RequestID), h.Name("id", b.RequestID))
		})
		slices.SortFunc(got, func(a, b trace.Request) int { return strings.Compare(a.RequestID, b.RequestID) })
		for i := range want {
			sameButNames(t, h, want[i], got[i])
		}
	}
}

// sameButNames works the names out by itself.
func sameButNames(t *testing.T, h *decode.Hasher, want, got trace.Request) {
	t.Helper()
	for _, f := range []struct {
		kind string
		to   *string
	}{{"id", &want.RequestID}, {"id", &want.RootRequestID}, {"id", &want.SessionID}, {"tenant", &want.Tenant}, {"app", &want.App}, {"route", &want.Route},
		{"model", &want.ModelRequested}, {"model", &want.ModelServed}, {"replica", &want.Replica}, {"key", &want.KeyHash}, {"user", &want.UserHash}, {"system", &want.SystemPromptHash}} {
		*f.to = h.Name(f.kind, *f.to)
	}
	for i, id := range want.PrefixHashIDs {
		var bits uint64
		fmt.Sscanf(h.Name("block", fmt.Sprint(id)), "block-%x", &bits)
		want.PrefixHashIDs[i] = int64(bits)
	}
	want.SourceFile, want.SourceLine, got.SourceFile, got.SourceLine = "", 0, "", 0
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("a row changed on its way (-run +again):\n%s", d)
	}
}

// A trace for other tools, read again: the same lengths, times to the millisecond, and sharing.
func TestExportMooncakeRoundTrip(t *testing.T) {
	home(t)
	rng := rand.New(rand.NewPCG(4, 4))
	var rows []trace.Request
	for i := range 60 {
		r := trace.Request{RequestID: fmt.Sprint(i), Attempt: 1, Arrival: trace.Ptr(1_796_000_000_000_000 + int64(i)*1_234_567), ErrorClass: trace.ClassOK, Vantage: trace.Gateway,
			ClockDomain: trace.Wall, InputTokens: trace.Ptr(int64(64*(1+rng.IntN(5)) - rng.IntN(2)*7)), OutputTokens: trace.Ptr(int64(i + 1)), PrefixBlockTokens: trace.Ptr(int32(64))}
		shared := rng.Int64N(3)
		for k := range (*r.InputTokens + 63) / 64 {
			id := shared*1000 + k // a chain of its own for each of three beginnings
			if k >= 2 {
				id = int64(i)*10_000 + k
			}
			r.PrefixHashIDs = append(r.PrefixHashIDs, id)
		}
		if int64(len(r.PrefixHashIDs))*64 != *r.InputTokens { // a last block that is not full stands for this text only
			r.PrefixHashIDs[len(r.PrefixHashIDs)-1] = int64(i)*10_000 + 999
		}
		rows = append(rows, r)
	}
	file, again := filepath.Join(t.TempDir(), "x.jsonl"), filepath.Join(t.TempDir(), "again")
	do(t, "export", makeRun(t, rows), "--to", "mooncake", "--block", "64", "-o", file)
	do(t, "ingest", file, "-o", again)
	got := stored(t, again)
	if len(got) != len(rows) {
		t.Fatalf("%d rows became %d", len(rows), len(got))
	}
	old, back := map[int64]int64{}, map[int64]int64{}
	for i, r := range got {
		w := rows[i]
		if *r.InputTokens != *w.InputTokens || *r.OutputTokens != *w.OutputTokens || *r.PrefixBlockTokens != 64 || len(r.PrefixHashIDs) != len(w.PrefixHashIDs) {
			t.Fatalf("row %d: got %d in, %d out, %d blocks of %d", i, *r.InputTokens, *r.OutputTokens, len(r.PrefixHashIDs), *r.PrefixBlockTokens)
		}
		if d := *r.Arrival - (*w.Arrival - *rows[0].Arrival); d < -500 || d > 500 {
			t.Errorf("row %d arrives %d us off", i, d)
		}
		for k, id := range r.PrefixHashIDs { // one to one
			was := w.PrefixHashIDs[k]
			if as, ok := old[was]; ok && as != id {
				t.Errorf("block %d leaves as %d and as %d", was, as, id)
			}
			if as, ok := back[id]; ok && as != was {
				t.Errorf("blocks %d and %d leave as %d", was, as, id)
			}
			old[was], back[id] = id, was
		}
	}
}

// The file is there whole or not at all, and the same run gives the same bytes.
func TestExportFile(t *testing.T) {
	home(t)
	run, dir := makeRun(t, someRows(rand.New(rand.NewPCG(1, 1)), 50)), t.TempDir()
	for _, to := range []string{"jsonl", "mooncake", "aiperf", "guidellm", "evalscope"} {
		file := filepath.Join(dir, to)
		do(t, "export", run, "--to", to, "-o", file)
		a, err := os.ReadFile(file)
		if err != nil || len(a) == 0 {
			t.Fatalf("%s: %d bytes, %v", to, len(a), err)
		}
		if b, _ := do(t, "export", run, "--to", to, "-o", "-"); b != string(a) {
			t.Errorf("%s: standard output differs from the file", to)
		}
		for _, name := range []string{"t1", "a2", "/v1/", "10.0.0.7"} {
			if bytes.Contains(a, []byte(`"`+name)) {
				t.Errorf("%s: %q has left", to, name)
			}
		}
	}
	a := &app{out: &bytes.Buffer{}, err: &bytes.Buffer{}}
	if code := a.run(context.Background(), []string{"export", run, "--to", "mooncake", "-o", filepath.Join(dir, "none"), "--since", "2030-01-01"}); code != exitError {
		t.Errorf("exit code %d for a run without requests, want %d", code, exitError)
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if code := a.run(ctx, []string{"export", run, "--to", "jsonl", "-o", filepath.Join(dir, "none")}); code != exitInterrupted {
		t.Errorf("exit code %d when interrupted, want %d", code, exitInterrupted)
	}
	if files, _ := os.ReadDir(dir); len(files) != 5 {
		t.Errorf("%d files left, want 5", len(files))
	}
}
