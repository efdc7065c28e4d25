package ingest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// followed is a follower of a place in a folder of its own, with small parts.
type followed struct {
	*testing.T
	f        *Follower
	dir, run string
}

func follow(t *testing.T, name string) followed {
	dir := t.TempDir()
	run := filepath.Join(t.TempDir(), "run")
	f := Follow(Options{Run: run, Options: decode.Options{Hash: decode.NewHasher([]byte("0123456789abcdef"))}}, filepath.Join(dir, name))
	t.Cleanup(f.Close)
	return followed{t, f, dir, run}
}

// add appends text to a file.
func (x followed) add(name, text string) {
	x.Helper()
	w, err := os.OpenFile(filepath.Join(x.dir, name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		x.Fatal(err)
	}
	if _, err := w.WriteString(text); err != nil {
		x.Fatal(err)
	}
	w.Close()
}

// step takes in what there is and returns the ids in the run, in order.
func (x followed) step() (ids []string, changed bool) {
	x.Helper()
	changed, err := x.f.Step(context.Background())
	if err != nil {
		x.Fatal(err)
	}
	return x.ids(), changed
}

func (x followed) ids() (ids []string) {
	x.Helper()
	for r, err := range trace.Read(x.parts()...) {
		if err != nil {
			x.Fatal(err)
		}
		ids = append(ids, r.RequestID)
	}
	slices.Sort(ids)
	return ids
}

func (x followed) parts() []string {
	parts, err := filepath.Glob(filepath.Join(x.run, "day=*", "*.parquet"))
	if err != nil {
		x.Fatal(err)
	}
	return parts
}

// calls are lines of requests number from to number to.
func calls(from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, `{"request_id":"r%03d","arrival":%d,"first_us":200000,"end_us":1000000,"output_tokens":5,"stream":true,"error_class":"ok"}`+"\n", i, 1794182400000000+int64(i)*1_000_000)
	}
	return b.String()
}

func idsOf(from, to int) (out []string) {
	for i := from; i <= to; i++ {
		out = append(out, fmt.Sprintf("r%03d", i))
	}
	return out
}

func (x followed) want(ids []string, changed bool) {
	x.Helper()
	got, did := x.step()
	if diff := cmp.Diff(ids, got); diff != "" || did != changed {
		x.Fatalf("changed %v, want %v; ids (-want +got)\n%s", did, changed, diff)
	}
}

func TestFollowGrowingFile(t *testing.T) {
	x := follow(t, "log.jsonl")
	x.want(nil, false) // there is no file yet
	x.add("log.jsonl", calls(1, 10))
	x.want(idsOf(1, 10), true)
	x.want(idsOf(1, 10), false)
	torn := calls(11, 12)
	x.add("log.jsonl", torn[:len(torn)-40])
	x.want(idsOf(1, 11), true) // half a line is not a request
	x.add("log.jsonl", torn[len(torn)-40:])
	x.want(idsOf(1, 12), true)
	if n := len(x.parts()); n != 1 {
		t.Errorf("%d parts for a small file", n)
	}
}

// A last line without an end counts once the file rests; when it goes on after all, it is read again.
func TestFollowLineWithoutEnd(t *testing.T) {
	x, text := follow(t, "log.jsonl"), calls(1, 3)
	x.add("log.jsonl", strings.TrimSuffix(text, "\n"))
	x.want(idsOf(1, 2), true)
	x.want(idsOf(1, 3), true)
	x.add("log.jsonl", "\n"+calls(4, 4))
	x.want(idsOf(1, 4), true)
}

// Moved away and begun anew, as logrotate does: the rest of the old file is still read.
func TestFollowRotatedFile(t *testing.T) {
	x := follow(t, "log.jsonl")
	x.add("log.jsonl", calls(1, 10))
	x.want(idsOf(1, 10), true)
	x.add("log.jsonl", calls(11, 15))
	if err := os.Rename(filepath.Join(x.dir, "log.jsonl"), filepath.Join(x.dir, "log.jsonl.1")); err != nil {
		t.Fatal(err)
	}
	x.want(idsOf(1, 15), true) // nothing stands in its place yet
	x.add("log.jsonl", calls(16, 20))
	x.add("log.jsonl.1", calls(21, 21)) // by a writer that had it open
	x.want(idsOf(1, 21), true)
}

// Copied away and cut to nothing, also when it has grown beyond its old length before the next look.
func TestFollowTruncatedFile(t *testing.T) {
	x := follow(t, "log.jsonl")
	x.add("log.jsonl", calls(1, 10))
	x.want(idsOf(1, 10), true)
	want := idsOf(1, 10)
	for _, n := range []int{20, 200} {
		x.cut("log.jsonl")
		x.add("log.jsonl", calls(n, n+n/10))
		want = append(want, idsOf(n, n+n/10)...)
		x.want(want, true)
	}
}

func (x followed) cut(name string) {
	x.Helper()
	if err := os.Truncate(filepath.Join(x.dir, name), 0); err != nil {
		x.Fatal(err)
	}
}

// Ids that are made of a place in a file do not meet when the file is written anew.
func TestFollowMadeIDs(t *testing.T) {
	x := follow(t, "caddy.log")
	const line = `{"level":"info","ts":179594640%d.531,"logger":"http.log.access","msg":"handled request","request":{"method":"POST","host":"llm.example","uri":"/v1/chat/completions","headers":{}},"user_id":"","duration":0.531,"size":4009,"status":200,"resp_headers":{"Content-Type":["text/event-stream"]}}` + "\n"
	for i := range 3 {
		x.add("caddy.log", fmt.Sprintf(line, i))
		if ids, _ := x.step(); len(slices.Compact(ids)) != i+1 {
			t.Fatalf("%v", ids)
		}
		x.cut("caddy.log")
		x.step()
	}
}

// A long file is sealed in parts on the way, and nothing is lost or twice at the seams.
func TestFollowSeals(t *testing.T) {
	x := follow(t, "log.jsonl")
	x.f.seal = 1000
	for i := range 6 {
		x.add("log.jsonl", calls(10*i+1, 10*i+10))
		if _, changed := x.step(); !changed {
			t.Fatal("nothing new")
		}
	}
	if diff := cmp.Diff(idsOf(1, 60), x.ids()); diff != "" || len(x.parts()) != 6 {
		t.Errorf("%d parts\n%s", len(x.parts()), diff)
	}
}

// In a folder new files are found, moved ones known again, and what is no log is named.
func TestFollowFolder(t *testing.T) {
	x := follow(t, "")
	x.add("a.jsonl", calls(1, 5))
	x.add("notes.txt", "nothing to see here\n")
	x.want(idsOf(1, 5), true)
	x.add("b.jsonl", calls(6, 9))
	if err := os.Rename(filepath.Join(x.dir, "a.jsonl"), filepath.Join(x.dir, "a.jsonl.1")); err != nil {
		t.Fatal(err)
	}
	x.add("a.jsonl", calls(10, 12))
	x.want(idsOf(1, 12), true)
	if why := x.f.Why[filepath.Join(x.dir, "notes.txt")]; why == "" {
		t.Errorf("%v", x.f.Why)
	}
}

// Records that belong together meet however the writer cut them: the whole is read again, never half of a pair.
func TestFollowGroups(t *testing.T) {
	x := follow(t, "engine.log")
	f := pairs()
	x.f.o.Map, x.f.seal = &f, 10
	x.f.o.MapID = "pairs"
	for _, step := range []struct {
		text string
		want []string
	}{{"+a\n+b\n-a\n", []string{"a", "b"}}, {"-b\n+c\n", []string{"a", "b", "c"}}, {"-c\n", []string{"a", "b", "c"}}} {
		x.add("engine.log", step.text)
		x.want(step.want, true)
	}
	for r, err := range trace.Read(x.parts()...) {
		if err != nil || r.ErrorClass != trace.ClassOK {
			t.Errorf("%s did not end: %q %v", r.RequestID, r.ErrorClass, err)
		}
	}
}

func TestFollowStops(t *testing.T) {
	x := follow(t, "log.jsonl")
	x.add("log.jsonl", calls(1, 10))
	x.want(idsOf(1, 10), true)
	x.add("log.jsonl", calls(11, 20))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := x.f.Step(ctx); err == nil {
		t.Error("no error")
	}
	if diff := cmp.Diff(idsOf(1, 10), x.ids()); diff != "" {
		t.Errorf("the run is not whole: %s", diff)
	}
}
