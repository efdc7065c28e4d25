package trace

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reprise/layout"
)

// follow writes a run as an ingest every minute would: many small parts on three days.
func follow(t *testing.T, run string, parts int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range parts {
		rows := make([]Request, 20)
		for j := range rows {
			rows[j] = random(rng, int64(j))
			rows[j].RequestID = fmt.Sprintf("%d-%d", i, j)
			rows[j].Arrival = Ptr(1_789_948_800_000_000 + int64(i)*3*86_400_000_000/int64(parts) + rng.Int64N(90_000_000))
		}
		write(t, run, fmt.Sprintf("log-%04d", i), rows)
	}
}

// contents are the rows of a run, as text, in an order of their own.
func contents(t *testing.T, run string) []string {
	t.Helper()
	parts, err := Parts(run)
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for r, err := range Read(parts...) {
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, asText(t, r))
	}
	slices.Sort(rows)
	return rows
}

func asText(t *testing.T, r Request) string {
	b, err := json.Marshal(r) // tells nil from empty
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// files are the names and bytes of a run.
func files(t *testing.T, run string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(run, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			b, err := os.ReadFile(path)
			all[strings.TrimPrefix(path, run)] = string(b)
			return err
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func compact(t *testing.T, run string) Compaction {
	t.Helper()
	c, err := Compact(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCompact(t *testing.T) {
	run := t.TempDir()
	follow(t, run, 45)
	before := contents(t, run)
	c := compact(t, run)
	if c.Before.Parts < 45 || c.After.Parts > 4 || c.Before.Rows != 900 || c.After.Rows != 900 || c.Days < 3 {
		t.Errorf("%+v", c)
	}
	if after := contents(t, run); !slices.Equal(before, after) {
		t.Errorf("%d rows before, %d after, and they differ", len(before), len(after))
	}
	parts, _ := Parts(run)
	for _, name := range parts {
		last := int64(0)
		for r := range Read(name) {
			if *r.Arrival < last {
				t.Fatalf("%s is not sorted by arrival", name)
			}
			last = *r.Arrival
		}
	}
	once := files(t, run)
	if again := compact(t, run); again.Days != 0 || !maps.Equal(files(t, run), once) {
		t.Errorf("a second call did something: %+v", again)
	}
	follow(t, run, 45) // the same logs again
	if !maps.Equal(files(t, run), once) {
		t.Error("ingesting the same again added files")
	}
	write(t, run, "late", []Request{random(rand.New(rand.NewPCG(9, 9)), 7)})
	want := contents(t, run)
	compact(t, run)
	follow(t, run, 45)
	write(t, run, "late", []Request{random(rand.New(rand.NewPCG(9, 9)), 7)})
	if got := contents(t, run); len(got) != 901 || !slices.Equal(got, want) {
		t.Errorf("%d rows after a late one and two more compactions, want 901", len(got))
	}
}

// A process that dies between any two changes of the folder leaves a run that reads the same, and the next call ends with
// the same bytes. Every change is the arrival or the end of one file, so each such state is made by hand.
func TestCompactDiesAtAnyPoint(t *testing.T) {
	whole := t.TempDir()
	follow(t, whole, 6)
	small := files(t, whole)
	rows := contents(t, whole)
	compact(t, whole)
	want := files(t, whole)
	var steps []string // in the order in which Compact makes them, day by day
	days, _ := layout.Days(whole)
	for _, day := range days {
		in := func(files map[string]string, pick func(name string) bool) (names []string) {
			for name := range files {
				if strings.HasPrefix(name, "/"+filepath.Base(day)+"/") && pick(filepath.Base(name)) {
					names = append(names, name)
				}
			}
			slices.Sort(names)
			return names
		}
		steps = append(steps, in(want, layout.IsList)...)
		steps = append(steps, in(want, func(n string) bool { return strings.HasPrefix(n, layout.Compacted) })...)
		steps = append(steps, in(small, func(n string) bool { return want["/"+filepath.Base(day)+"/"+n] == "" })...)
	}
	if len(steps) < 12 {
		t.Fatalf("only %d steps: %v", len(steps), steps)
	}
	state := map[string]string{}
	for name, b := range small {
		state[name] = b
	}
	for i := -1; i < len(steps); i++ {
		if i >= 0 {
			if name := steps[i]; want[name] != "" {
				state[name] = want[name]
			} else {
				delete(state, name)
			}
		}
		run := t.TempDir()
		for name, b := range state {
			if err := os.MkdirAll(filepath.Dir(run+name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(run+name, []byte(b), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got := contents(t, run); !slices.Equal(got, rows) {
			t.Fatalf("after step %d of %d: %d rows, want %d", i+1, len(steps), len(got), len(rows))
		}
		follow(t, run, 6)
		if got := contents(t, run); !slices.Equal(got, rows) {
			t.Fatalf("after step %d of %d and another ingest: %d rows, want %d", i+1, len(steps), len(got), len(rows))
		}
		compact(t, run)
		if !maps.Equal(files(t, run), want) {
			t.Fatalf("after step %d of %d the next call ends elsewhere", i+1, len(steps))
		}
	}
}

func TestCompactLeavesReplays(t *testing.T) {
	run := t.TempDir()
	for i := range 3 {
		w, err := NewWriter(run)
		if err != nil {
			t.Fatal(err)
		}
		r := random(rand.New(rand.NewPCG(1, uint64(i))), 1)
		r.Arrival = Ptr(int64(1_789_948_800_000_000))
		if err := w.Add(&r); err != nil {
			t.Fatal(err)
		}
		if _, _, err := w.Commit(fmt.Sprint("replay-", i), map[string]string{"reprise.replay": "{}"}); err != nil {
			t.Fatal(err)
		}
	}
	before := files(t, run)
	if c := compact(t, run); len(c.Alone) != 3 || !maps.Equal(files(t, run), before) {
		t.Errorf("%+v", c)
	}
}

func TestCompactMarksRepeatedCalls(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	var rows []Request
	for i := range 6 {
		r := random(rng, int64(i))
		r.RequestID, r.Arrival = fmt.Sprint("q", i), Ptr(1_789_948_800_000_000+int64(i)*1e6)
		rows = append(rows, r)
	}
	twice := []Request{rows[0], rows[0], rows[1]}
	for name, c := range map[string]struct {
		a, b []Request
		want string
	}{
		"one behind the other": {rows[:3], rows[3:], ""},
		"interlaced":           {[]Request{rows[0], rows[2]}, []Request{rows[1], rows[3]}, ""},
		"grown":                {rows[:3], rows[:4], "1"},
		"twice in one part":    {twice, rows[3:], ""}, // as without compaction: only times that several parts speak of
	} {
		run := t.TempDir()
		write(t, run, "a", c.a)
		write(t, run, "b", c.b)
		compact(t, run)
		parts, _ := Parts(run)
		meta, _, _, err := Meta(parts[0])
		if err != nil || len(parts) != 1 || meta[Repeated] != c.want {
			t.Errorf("%s: parts %v, meta %v, %v; want %s %q", name, parts, meta, err, Repeated, c.want)
		}
	}
}

func TestPack(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		var parts []part
		for i := range rng.IntN(40) {
			parts = append(parts, part{path: fmt.Sprint(i), rows: 1 + rng.Int64N(compactRows/2-1), from: rng.Int64N(9)})
		}
		small, n := 0, 0
		for _, g := range pack(slices.Clone(parts)) {
			rows := int64(0)
			for _, p := range g {
				rows += p.rows
			}
			if n += len(g); rows > compactRows {
				t.Fatalf("a group of %d rows", rows)
			}
			if rows < compactRows/2 {
				small++ // the next call would take it up again, if there were another
			}
		}
		if n != len(parts) || small > 1 {
			t.Fatalf("%d of %d parts in groups, %d groups under half", n, len(parts), small)
		}
	}
}

func TestCompactAlone(t *testing.T) {
	run := t.TempDir()
	follow(t, run, 2)
	lock, err := lockRun(run)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Compact(t.Context(), run); err == nil || !strings.Contains(err.Error(), "another compaction is at work") {
		t.Errorf("two at a time: %v", err)
	}
	lock.Close()
	if _, err := Compact(t.Context(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "no run in") {
		t.Errorf("an empty folder: %v", err)
	}
}
