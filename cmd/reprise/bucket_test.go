package main

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"reprise/store/versity"
)

func TestBucket(t *testing.T) {
	w := newBucketWorld(t)
	if err := os.Mkdir(filepath.Join(w.dir, "log"), 0o755); err != nil {
		t.Fatal(err)
	}
	for i, b := range threeDays(200) {
		name := fmt.Sprintf("log/%d.jsonl", i)
		w.put(name, b)
		if err := os.WriteFile(filepath.Join(w.dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	here := func(s string) string { // the same words about the run of this machine
		return strings.NewReplacer("s3://logs/", "", w.dir+"/", "").Replace(s)
	}
	equal := func(remote, local string) {
		t.Helper()
		a, _ := w.run(0, remote)
		b, _ := w.run(0, local)
		if here(a) != here(b) || a == "" {
			t.Errorf("%s says\n%s\nand %s says\n%s", remote, a, local, b)
		}
	}
	equal("ingest s3://logs/log -o s3://logs/run", "ingest {log} -o {run}")
	w.same("run", "run")
	before := w.objects("run")
	if out, _ := w.run(0, "ingest s3://logs/log/*.jsonl -o s3://logs/run"); !strings.Contains(out, "nothing new: the run had all of it") || len(w.objects("run")) != len(before) {
		t.Errorf("ingesting the same again: %s", out)
	}
	equal("query latency s3://logs/run --format csv", "query latency {run} --format csv")
	equal("analyze s3://logs/run", "analyze {run}")
	equal("analyze s3://logs/log", "analyze {log}")
	equal("plan s3://logs/run -o s3://logs/plan.parquet", "plan {run} -o {plan.parquet}")
	if w.objects("plan.parquet")[""] != w.tree(filepath.Join(w.dir, "plan.parquet"))[""] {
		t.Error("the plans differ")
	}
	equal("replay s3://logs/plan.parquet --dry-run", "replay {plan.parquet} --dry-run")
	equal("compare s3://logs/run s3://logs/run", "compare {run} {run}")
	equal("report weekly s3://logs/run --format json -o s3://logs/out/w.html", "report weekly {run} --format json -o {w.html}")
	if page := w.objects("out")["/w.html"]; !strings.Contains(page, "<!DOCTYPE html>") || strings.Contains(page, "/cache/reprise/out") {
		t.Errorf("a page of %d bytes", len(page))
	}
	equal("export s3://logs/run --to mooncake -o s3://logs/out/t.jsonl", "export {run} --to mooncake -o {t.jsonl}")
	equal("compact s3://logs/run", "compact {run}") // nothing to do: a part a day

	var parts atomic.Int32
	w.fail(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Range") != "" && strings.HasSuffix(r.URL.Path, ".parquet") {
			parts.Add(1)
		}
		return false
	})
	if err := os.RemoveAll(filepath.Join(w.dir, "cache", "reprise", "s3")); err != nil {
		t.Fatal(err)
	}
	first := time.Unix(1795961900, 0).UTC().Truncate(24 * time.Hour)
	until := " --to " + first.Add(20*time.Hour).Format(time.RFC3339)
	alone, _ := w.run(0, "analyze s3://logs/run --json"+until)
	if err := os.RemoveAll(filepath.Join(w.dir, "cache", "reprise", "s3")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		flags string
		want  int32
	}{{until, 2}, {"", 1}, {"", 0}, {until, 0}} { // a day and the one beside it, the rest, nothing
		parts.Store(0)
		w.run(0, "query latency s3://logs/run "+c.flags)
		if parts.Load() != c.want {
			t.Errorf("query %q fetched %d parts, want %d", c.flags, parts.Load(), c.want)
		}
	}
	if again, _ := w.run(0, "analyze s3://logs/run --json"+until); again != alone {
		t.Error("what lies in the cache changes an analysis")
	}
	if _, said := w.run(1, "analyze s3://logs/run --to 2020-01-01"); !strings.Contains(said, "the run holds the days from "+first.Format(time.DateOnly)) {
		t.Errorf("a time range without a day: %s", said)
	}
	if text := w.said.String(); strings.Contains(text, versity.SecretKey) || strings.Contains(text, versity.AccessKey) {
		t.Error("a key was said")
	}
	if left, _ := filepath.Glob(filepath.Join(w.dir, "cache", "reprise", "out", "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A process that is killed while it writes leaves nothing to be seen of what was not whole, and the next one completes it.
func TestKilledUploadLeavesNothing(t *testing.T) {
	w := newBucketWorld(t)
	if err := os.WriteFile(filepath.Join(w.dir, "log.jsonl"), bytes.Join(threeDays(4000), nil), 0o600); err != nil {
		t.Fatal(err)
	}
	w.run(0, "ingest {log.jsonl} -o {run}")
	var arrived atomic.Int32
	w.fail(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPut {
			return false
		}
		some := make([]byte, 10_000)
		r.Body.Read(some) // the server behind gets nothing
		arrived.Add(1)
		<-w.stuck
		return true
	})
	killWhen(t, w.command("ingest {log.jsonl} -o s3://logs/run"), func() bool { return arrived.Load() > 0 })
	if seen := w.objects("run"); len(seen) != 0 {
		t.Errorf("a killed upload left %v", slices.Sorted(maps.Keys(seen)))
	}
	once := false
	w.fail(func(_ http.ResponseWriter, r *http.Request) bool { // one part arrives whole, the next does not
		if r.Method != http.MethodPut {
			return false
		}
		if !once {
			once = true
			return false
		}
		arrived.Add(1)
		<-w.stuck
		return true
	})
	arrived.Store(0)
	killWhen(t, w.command("ingest {log.jsonl} -o s3://logs/run"), func() bool { return arrived.Load() > 0 && len(w.objects("run")) == 1 })
	whole := w.tree(filepath.Join(w.dir, "run"))
	for name, b := range w.objects("run") {
		if whole[name] != b {
			t.Errorf("%s is there and not whole", name)
		}
	}
	w.fail(nil)
	w.run(0, "ingest {log.jsonl} -o s3://logs/run")
	w.same("run", "run")
	if left, _ := filepath.Glob(filepath.Join(w.dir, "cache", "reprise", "out", "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// What cannot be read to its end gives no part of a run, compressed or not, in a folder or named; what cannot be written is kept.
func TestBucketFails(t *testing.T) {
	w := newBucketWorld(t)
	plain := bytes.Join(threeDays(3000), nil)
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	z.Write(plain)
	z.Close()
	w.put("log/a.jsonl", plain)
	w.put("log/b.jsonl.gz", zipped.Bytes())
	cut := func(rw http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Range") == "" {
			return false
		}
		rw.Header().Set("Last-Modified", time.Now().UTC().Format(http.TimeFormat))
		rw.Header().Set("Content-Length", "100000")
		rw.WriteHeader(http.StatusPartialContent)
		if strings.HasPrefix(r.Header.Get("Range"), "bytes=0-") { // some bytes, then never any more
			b := plain
			if strings.HasSuffix(r.URL.Path, ".gz") {
				b = zipped.Bytes()
			}
			rw.Write(b[:40_000])
		}
		rw.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	w.fail(cut)
	for _, input := range []string{"s3://logs/log/a.jsonl", "s3://logs/log/b.jsonl.gz", "s3://logs/log"} {
		_, said := w.run(1, "ingest "+input+" -o {half}")
		if !strings.Contains(said, "the transfer broke off at byte 40000 of") || !strings.Contains(said, "reprise: hint: ") {
			t.Errorf("%s: %s", input, said)
		}
		if p := parts(t, filepath.Join(w.dir, "half")); len(p) > 0 {
			t.Fatalf("%s left %v", input, p)
		}
	}
	w.fail(func(rw http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPut {
			rw.WriteHeader(http.StatusForbidden)
			rw.Write([]byte(`<Error><Code>AccessDenied</Code></Error>`))
		}
		return r.Method == http.MethodPut
	})
	_, said := w.run(1, "ingest s3://logs/log -o s3://logs/run")
	_, kept, _ := strings.Cut(strings.TrimSpace(said), "what was made is kept in ")
	if !strings.Contains(said, "access denied: AccessDenied (HTTP 403)") || len(parts(t, kept)) != 3 || len(w.objects("run")) > 0 {
		t.Errorf("%s: %v", said, parts(t, kept))
	}
	w.fail(nil)
	for line, want := range map[string]string{
		"analyze s3://logs/none":                      "there is no such object, and none below it",
		"ingest s3://logs/log -o s3://nowhere-here/x": `there is no bucket "nowhere-here"`,
		"--cache-size 1MB analyze s3://Logs/run":      "Bucket name contains invalid characters",
		"compact s3://logs/log":                       "no run in",
	} {
		if _, said := w.run(1, line); !strings.Contains(said, want) {
			t.Errorf("%s: %s", line, said)
		}
	}
	w.run(exitUsage, "--cache-size lots analyze s3://logs/log/none.parquet --from x")
}

func TestCompactBucket(t *testing.T) {
	w := newBucketWorld(t)
	for i := range 12 {
		w.put(fmt.Sprintf("log/%02d.jsonl", i), []byte(logLine(i*3000)+logLine(i*3000+1)))
	}
	w.run(0, "ingest s3://logs/log -o s3://logs/run --keep-bodies")
	w.run(0, "ingest s3://logs/log -o {run} --keep-bodies")
	rows := "query s3://logs/run --format csv --sql SELECT|*|FROM|requests|ORDER|BY|request_id"
	want, _ := w.run(0, rows)
	killed := 0 // after each change of the bucket, one process that is killed before the next
	for changes := 0; ; changes++ {
		var n atomic.Int32
		reached := make(chan struct{})
		w.fail(func(_ http.ResponseWriter, r *http.Request) bool {
			if r.Method != http.MethodPut && r.Method != http.MethodDelete || n.Add(1) <= int32(changes) {
				return false
			}
			select {
			case reached <- struct{}{}:
			case <-w.stuck:
			}
			<-w.stuck
			return true
		})
		cmd := w.command("compact s3://logs/run")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- cmd.Wait() }()
		select {
		case <-reached:
			cmd.Process.Kill()
			<-done
			killed++
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			changes = -1
		}
		w.fail(nil)
		if got, _ := w.run(0, rows); got != want {
			t.Fatalf("after a compaction that was killed after %d changes the run reads differently:\n%s\nwant\n%s", changes, got, want)
		}
		if changes < 0 {
			break
		}
	}
	if killed == 0 {
		t.Error("none was killed")
	}
	w.run(0, "compact {run}")
	w.same("run", "run")
	if out, _ := w.run(0, "compact s3://logs/run"); !strings.Contains(out, "nothing to do") {
		t.Errorf("a second call: %s", out)
	}
	if out, _ := w.run(0, "ingest s3://logs/log -o s3://logs/run --keep-bodies"); !strings.Contains(out, "nothing new") {
		t.Errorf("the same logs again: %s", out)
	}
	w.same("run", "run")
}
