package store

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func everything(Object) bool { return true }

func mirrored(t *testing.T, c *Cache, url string, want func(Object) bool) map[string]string {
	t.Helper()
	p, all, err := Find(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	m, err := c.Mirror(t.Context(), p, all, want)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	files := map[string]string{}
	err = filepath.WalkDir(m.Dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), ".") {
			return err
		}
		b, err := os.ReadFile(path)
		files[strings.TrimPrefix(path, m.Dir+"/")] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestMirror(t *testing.T) {
	s := server(t)
	var gets atomic.Int32
	proxy(t, s, func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Range") != "" {
			gets.Add(1)
		}
		return false
	})
	for _, name := range []string{"a/1", "a/2", "b/3"} {
		put(t, "s3://logs/run/"+name, []byte(name))
	}
	put(t, "s3://logs/run/empty", nil)
	c := &Cache{Dir: t.TempDir(), Max: 1000}
	check := func(what string, wantGets int32, want map[string]string, pick func(Object) bool) {
		t.Helper()
		gets.Store(0)
		got := mirrored(t, c, "s3://logs/run", pick)
		if len(got) != len(want) || gets.Load() != wantGets {
			t.Errorf("%s: %v after %d transfers, want %v after %d", what, got, gets.Load(), want, wantGets)
		}
		for k, v := range want {
			if got[k] != v {
				t.Errorf("%s: %s is %q, want %q", what, k, got[k], v)
			}
		}
	}
	all := map[string]string{"a/1": "a/1", "a/2": "a/2", "b/3": "b/3", "empty": ""}
	check("some", 2, map[string]string{"a/1": "a/1", "a/2": "a/2"}, func(o Object) bool { return strings.HasPrefix(o.Name, "a/") })
	check("the rest", 1, all, everything)
	check("again", 0, all, everything)
	put(t, "s3://logs/run/a/1", []byte("new")) // as long as before
	all["a/1"] = "new"
	check("changed", 1, all, everything)
	if err := open(t, "s3://logs/run").Remove(t.Context(), "a/2"); err != nil {
		t.Fatal(err)
	}
	delete(all, "a/2")
	check("removed", 0, all, everything)
	p, found, err := Find(t.Context(), "s3://logs/run/b/3")
	if err != nil {
		t.Fatal(err)
	}
	m, err := c.Mirror(t.Context(), p, found, everything)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(m.File(p)); err != nil || string(b) != "b/3" || filepath.Base(m.File(p)) != "3" {
		t.Errorf("one object: %q, %v", b, err)
	}
	m.Close()
}

// The cache stays within its bound: what was not read for longest goes, what is being read stays.
func TestCacheBound(t *testing.T) {
	server(t)
	for _, name := range []string{"x", "y", "z"} {
		put(t, "s3://logs/"+name+"/o", noise(1000))
	}
	c := &Cache{Dir: t.TempDir(), Max: 2500}
	held := func() (names string) {
		entries, _ := filepath.Glob(filepath.Join(c.Dir, "*", "o"))
		for _, e := range entries {
			names += filepath.Base(filepath.Dir(e))[:1]
		}
		return names
	}
	mirrored(t, c, "s3://logs/x", everything)
	time.Sleep(20 * time.Millisecond) // file times
	mirrored(t, c, "s3://logs/y", everything)
	time.Sleep(20 * time.Millisecond)
	mirrored(t, c, "s3://logs/x", everything)
	time.Sleep(20 * time.Millisecond)
	mirrored(t, c, "s3://logs/z", everything)
	if held() != "xz" {
		t.Errorf("held %q, want xz: y was not read for longest", held())
	}
	p, all, _ := Find(t.Context(), "s3://logs/x")
	m, err := c.Mirror(t.Context(), p, all, everything)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(20 * time.Millisecond)
	mirrored(t, c, "s3://logs/z", everything)
	mirrored(t, c, "s3://logs/y", everything)
	if held() != "xy" {
		t.Errorf("held %q, want xy: x is being read", held())
	}
	m.Close()
	c.Max = 999
	_, err = c.Mirror(t.Context(), p, all, everything)
	var e *Error
	if !errors.As(err, &e) || !strings.Contains(e.Hint, "--cache-size") {
		t.Errorf("more than the cache may hold: %v", err)
	}
}

// Who reads a copy keeps others from changing it, until it is done.
func TestMirrorWaits(t *testing.T) {
	server(t)
	put(t, "s3://logs/x/o", []byte("old"))
	waited := make(chan bool, 1)
	c := &Cache{Dir: t.TempDir(), Max: 1000, Wait: func() { waited <- true }}
	p, all, _ := Find(t.Context(), "s3://logs/x")
	m, err := c.Mirror(t.Context(), p, all, everything)
	if err != nil {
		t.Fatal(err)
	}
	put(t, "s3://logs/x/o", []byte("new"))
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-waited; cancel() }()
	_, all, _ = Find(t.Context(), "s3://logs/x")
	if _, err := c.Mirror(ctx, p, all, everything); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v while somebody reads", err)
	}
	if b, _ := os.ReadFile(filepath.Join(m.Dir, "o")); string(b) != "old" {
		t.Errorf("a copy changed to %q while it was read", b)
	}
	m.Close()
	if got := mirrored(t, c, "s3://logs/x", everything); got["o"] != "new" {
		t.Errorf("afterwards %v", got)
	}
}
