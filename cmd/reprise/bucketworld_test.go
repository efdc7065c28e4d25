package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"reprise/store"
	"reprise/store/versity"
)

// bucketWorld is a bucket on a real server behind a proxy that can fail, and a person's machine.
type bucketWorld struct {
	t     *testing.T
	s     *versity.Server
	dir   string
	env   []string
	fault func(w http.ResponseWriter, r *http.Request) bool // whether it answered; nil for never
	mu    sync.Mutex
	said  bytes.Buffer  // all that any command said
	stuck chan struct{} // closed at the end: what a fault waits for that never answers
}

func newBucketWorld(t *testing.T) *bucketWorld {
	t.Helper()
	s, err := versity.Start(t.TempDir(), "logs")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	w := &bucketWorld{t: t, s: s, dir: t.TempDir(), stuck: make(chan struct{})}
	behind := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: s.Addr})
	h := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		fault := w.fault
		w.mu.Unlock()
		if fault == nil || !fault(rw, r) {
			behind.ServeHTTP(rw, r)
		}
	}))
	t.Cleanup(h.Close)
	t.Cleanup(func() { close(w.stuck) })
	w.env = append(versity.Env(strings.TrimPrefix(h.URL, "http://"), w.dir), "XDG_CONFIG_HOME="+filepath.Join(w.dir, "config"), "XDG_CACHE_HOME="+filepath.Join(w.dir, "cache"))
	for _, kv := range w.env { // for what the test itself puts into the bucket
		k, v, _ := strings.Cut(kv, "=")
		t.Setenv(k, v)
	}
	return w
}

func (w *bucketWorld) fail(fault func(w http.ResponseWriter, r *http.Request) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fault = fault
}

// command makes a command line of words apart by blanks; {x} is a path of the machine, | a blank in a word.
func (w *bucketWorld) command(line string) *exec.Cmd {
	args := strings.Fields(line)
	for i := range args {
		if name, ok := strings.CutPrefix(args[i], "{"); ok {
			args[i] = filepath.Join(w.dir, strings.TrimSuffix(name, "}"))
		}
		args[i] = strings.ReplaceAll(args[i], "|", " ")
	}
	cmd := program(w.t, args...)
	cmd.Env = append(cmd.Env, w.env...)
	return cmd
}

// run runs a command and checks its exit code; it gives what came on stdout, then on stderr.
func (w *bucketWorld) run(code int, line string) (out, said string) {
	w.t.Helper()
	cmd := w.command(line)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.Run()
	fmt.Fprint(&w.said, stdout.String(), stderr.String())
	if got := cmd.ProcessState.ExitCode(); got != code {
		w.t.Fatalf("%s: exit code %d, want %d\n%s%s", line, got, code, stdout.String(), stderr.String())
	}
	return stdout.String(), stderr.String()
}

func (w *bucketWorld) put(name string, b []byte) {
	w.t.Helper()
	file := filepath.Join(w.t.TempDir(), "object")
	if err := os.WriteFile(file, b, 0o600); err != nil {
		w.t.Fatal(err)
	}
	p, err := store.Open("s3://logs/" + name)
	if err == nil {
		err = p.Put(w.t.Context(), "", file)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// objects are the names and bytes below a prefix, as the server has them.
func (w *bucketWorld) objects(prefix string) map[string]string {
	return w.tree(filepath.Join(w.s.Root, "logs", prefix))
}

func (w *bucketWorld) tree(dir string) map[string]string {
	all := map[string]string{}
	filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			b, _ := os.ReadFile(path)
			all[strings.TrimPrefix(path, dir)] = string(b)
		}
		return nil
	})
	return all
}

func (w *bucketWorld) same(prefix, local string) {
	w.t.Helper()
	got, want := w.objects(prefix), w.tree(filepath.Join(w.dir, local))
	if len(got) != len(want) || len(want) == 0 {
		w.t.Fatalf("%s holds %d objects, %s %d files", prefix, len(got), local, len(want))
	}
	for name, b := range want {
		if got[name] != b {
			w.t.Errorf("%s%s differs from the local one", prefix, name)
		}
	}
}

// days is a log of three days, in parts of n lines each.
func threeDays(n int) (logs [][]byte) {
	for day := range 3 {
		var b bytes.Buffer
		for i := range n {
			b.WriteString(logLine(day*86_400*50 + i))
		}
		logs = append(logs, b.Bytes())
	}
	return logs
}
