package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"reprise/store/versity"
)

// server is a real server with the environment set to it.
func server(t *testing.T) *versity.Server {
	t.Helper()
	s, err := versity.Start(t.TempDir(), "logs")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	point(t, s.Addr)
	return s
}

func point(t *testing.T, addr string) {
	t.Helper()
	for _, kv := range versity.Env(addr, t.TempDir()) {
		k, v, _ := strings.Cut(kv, "=")
		t.Setenv(k, v)
	}
}

// proxy stands before the server and lets fault answer instead, when it wants to.
func proxy(t *testing.T, s *versity.Server, fault func(w http.ResponseWriter, r *http.Request) bool) {
	t.Helper()
	behind := &url.URL{Scheme: "http", Host: s.Addr}
	p := httputil.NewSingleHostReverseProxy(behind) // keeps the Host header, which is signed
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !fault(w, r) {
			p.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(h.Close)
	point(t, strings.TrimPrefix(h.URL, "http://"))
}

func noise(n int) []byte {
	b := make([]byte, n)
	rng := rand.NewChaCha8([32]byte{1})
	rng.Read(b)
	return b
}

func file(t *testing.T, b []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func open(t *testing.T, url string) *Place {
	t.Helper()
	p, err := Open(url)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func put(t *testing.T, url string, b []byte) {
	t.Helper()
	if err := open(t, url).Put(t.Context(), "", file(t, b)); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, url string) ([]byte, error) {
	t.Helper()
	p, found, err := Find(t.Context(), url)
	if err != nil {
		return nil, err
	}
	r, err := p.Read(t.Context(), found[0])
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

func names(t *testing.T, url string) (out []string) {
	t.Helper()
	_, found, err := Find(t.Context(), url)
	if err != nil {
		return []string{err.Error()}
	}
	for _, o := range found {
		out = append(out, o.Name)
	}
	return out
}

func TestFind(t *testing.T) {
	server(t)
	for _, key := range []string{"run/day=2026-11-28/a.parquet", "run/day=2026-11-29/b.parquet", "run/.partial/c", "run2/x", "logs/a.jsonl", "logs/b.jsonl.gz", "logs/sub/c.jsonl", "logs/.hidden"} {
		put(t, "s3://logs/"+key, []byte(key))
	}
	for url, want := range map[string][]string{
		"s3://logs/run":           {"day=2026-11-28/a.parquet", "day=2026-11-29/b.parquet"},
		"s3://logs/run/":          {"day=2026-11-28/a.parquet", "day=2026-11-29/b.parquet"},
		"s3://logs/run2/x":        {""},
		"s3://logs/logs/*.jsonl":  {"a.jsonl"},
		"s3://logs/logs/?.jsonl*": {"a.jsonl", "b.jsonl.gz"},
		"s3://logs/logs":          {"a.jsonl", "b.jsonl.gz", "sub/c.jsonl"},
		"s3://logs/no":            {"s3://logs/no: there is no such object, and none below it"},
		"s3://logs/logs/*.csv":    {"s3://logs/logs/*.csv: there is no such object, and none below it"},
	} {
		if got := names(t, url); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", url, got, want)
		}
	}
	if n := len(names(t, "s3://logs")); n != 6 {
		t.Errorf("%d objects in the bucket, want 6 (of 8, two hidden)", n)
	}
}

func TestManyPages(t *testing.T) {
	s := server(t)
	dir := filepath.Join(s.Root, "logs", "many")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range 2100 { // three pages; the server takes files that it did not write
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%05d", i)), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var listings atomic.Int32
	proxy(t, s, func(_ http.ResponseWriter, r *http.Request) bool {
		if r.URL.Query().Get("list-type") == "2" && listings.Add(1) == 3 { // between the pages of the first listing
			os.Rename(filepath.Join(dir, "02099"), filepath.Join(dir, "00000a"))
		}
		return false
	})
	got := names(t, "s3://logs/many")
	if len(got) != 2100 || !slices.Contains(got, "00000a") {
		t.Errorf("%d names, want 2100, one of which moved while they were listed", len(got))
	}
}

func TestPutLarge(t *testing.T) {
	s := server(t)
	want := noise(partBytes + 5<<20) // two parts
	visible := func() bool {
		_, err := os.Stat(filepath.Join(s.Root, "logs", "large"))
		return err == nil
	}
	parts := 0
	proxy(t, s, func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPut && r.URL.Query().Get("partNumber") != "" || r.Method == http.MethodPost && r.URL.Query().Get("uploadId") != "" {
			if parts++; visible() {
				t.Error("the object is there before all of it is")
			}
		}
		return false
	})
	put(t, "s3://logs/large", want)
	got, err := read(t, "s3://logs/large")
	if err != nil || !bytes.Equal(got, want) || parts < 3 {
		t.Errorf("%d bytes back, %v, in %d requests; want %d in two parts and an end", len(got), err, parts, len(want))
	}
}

// What breaks off goes on behind the last byte, and a change in between is an error, never a mixture.
func TestReadBreaksOff(t *testing.T) {
	s := server(t)
	want := noise(3 << 20)
	put(t, "s3://logs/o", want)
	var ranges []string
	var replace func()
	direct, other := open(t, "s3://logs/o"), file(t, bytes.Repeat([]byte("y"), 3<<20))
	proxy(t, s, func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet || r.Header.Get("Range") == "" {
			return false
		}
		if ranges = append(ranges, r.Header.Get("Range")); len(ranges) > 3 {
			return false
		}
		half(w, r, s.Addr)
		if replace != nil && len(ranges) == 1 {
			replace()
		}
		panic(http.ErrAbortHandler)
	})
	got, err := read(t, "s3://logs/o")
	if err != nil || !bytes.Equal(got, want) || len(ranges) != 4 || ranges[1] != "bytes=1000000-3145727" {
		t.Errorf("%d bytes, %v, by %q", len(got), err, ranges)
	}
	ranges = nil
	replace = func() {
		if err := direct.Put(t.Context(), "", other); err != nil {
			t.Error(err)
		}
	}
	if got, err := read(t, "s3://logs/o"); err == nil || !strings.Contains(err.Error(), "replaced while it was read") {
		t.Errorf("an object that was replaced in mid-read: %d bytes, %v", len(got), err)
	}
}

// half passes on the first million bytes of an answer.
func half(w http.ResponseWriter, r *http.Request, addr string) {
	out := r.Clone(r.Context())
	out.RequestURI, out.URL.Scheme, out.URL.Host = "", "http", addr
	answer, err := http.DefaultTransport.RoundTrip(out)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer answer.Body.Close()
	for k, v := range answer.Header {
		w.Header()[k] = v
	}
	w.WriteHeader(answer.StatusCode)
	io.CopyN(w, answer.Body, 1_000_000)
	w.(http.Flusher).Flush()
}

func TestFaults(t *testing.T) {
	s := server(t)
	put(t, "s3://logs/o", []byte("hello"))
	busy := func(w http.ResponseWriter) bool {
		w.WriteHeader(http.StatusServiceUnavailable)
		io.WriteString(w, `<?xml version="1.0"?><Error><Code>SlowDown</Code><Message>Please reduce your request rate. sig=SECRETSIG</Message></Error>`)
		return true
	}
	refuses := func(t *testing.T, url, text, hint string) {
		t.Helper()
		_, err := read(t, url)
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), text) || !strings.Contains(e.Hint, hint) {
			t.Errorf("got %v, want %q and a hint with %q", err, text, hint)
		}
		if err != nil && (strings.Contains(err.Error()+fmt.Sprintf("%+v", e.Hint), versity.SecretKey) || strings.Contains(err.Error(), "SECRETSIG")) {
			t.Errorf("the error tells too much: %v", err)
		}
	}
	t.Run("503 twice", func(t *testing.T) {
		var n atomic.Int32
		proxy(t, s, func(w http.ResponseWriter, _ *http.Request) bool { return n.Add(1)%3 != 0 && busy(w) })
		if got, err := read(t, "s3://logs/o"); err != nil || string(got) != "hello" {
			t.Errorf("%q, %v", got, err)
		}
		put(t, "s3://logs/p", []byte("there"))
	})
	t.Run("503 always", func(t *testing.T) {
		proxy(t, s, func(w http.ResponseWriter, _ *http.Request) bool { return busy(w) })
		refuses(t, "s3://logs/o", "the server is busy: SlowDown (HTTP 503), 12 times in a row", "later")
	})
	t.Run("slow", func(t *testing.T) {
		proxy(t, s, func(http.ResponseWriter, *http.Request) bool { time.Sleep(300 * time.Millisecond); return false })
		if got, err := read(t, "s3://logs/o"); err != nil || string(got) != "hello" {
			t.Errorf("%q, %v", got, err)
		}
	})
	t.Run("always cut", func(t *testing.T) {
		proxy(t, s, func(w http.ResponseWriter, r *http.Request) bool {
			if r.Header.Get("Range") == "" {
				return false
			}
			w.Header().Set("Content-Length", "5")
			w.Header().Set("Last-Modified", time.Now().UTC().Format(http.TimeFormat))
			w.WriteHeader(http.StatusPartialContent)
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		})
		refuses(t, "s3://logs/o", "the transfer broke off at byte 0 of 5, 6 times in a row", "again")
	})
	t.Run("no such bucket", func(t *testing.T) {
		refuses(t, "s3://nowhere/o", `there is no bucket "nowhere" on `+s.Addr, "AWS_ENDPOINT_URL")
	})
	t.Run("wrong secret", func(t *testing.T) {
		t.Setenv("AWS_SECRET_ACCESS_KEY", "wrong")
		refuses(t, "s3://logs/o", "access denied: SignatureDoesNotMatch (HTTP 403)", "AWS_ACCESS_KEY_ID")
	})
	t.Run("unknown key", func(t *testing.T) {
		t.Setenv("AWS_ACCESS_KEY_ID", "SOMEBODY")
		refuses(t, "s3://logs/o", "access denied: ", "AWS_ACCESS_KEY_ID")
	})
	t.Run("no credentials", func(t *testing.T) {
		t.Setenv("AWS_ACCESS_KEY_ID", "")
		t.Setenv("AWS_SECRET_ACCESS_KEY", "")
		refuses(t, "s3://logs/o", "no credentials for s3://logs/o", "AWS_PROFILE")
	})
	t.Run("nobody there", func(t *testing.T) {
		t.Setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
		refuses(t, "s3://logs/o", "connection refused", "127.0.0.1:1")
	})
	t.Run("password in the URL", func(t *testing.T) {
		_, err := Open("s3://key:" + versity.SecretKey + "@logs/o")
		if err == nil || strings.Contains(err.Error(), versity.SecretKey) {
			t.Errorf("got %v", err)
		}
		t.Setenv("AWS_ENDPOINT_URL", "http://u:"+versity.SecretKey+"@127.0.0.1:1")
		if _, err := Open("s3://logs/o"); err == nil || strings.Contains(err.Error(), versity.SecretKey) {
			t.Errorf("got %v", err)
		}
	})
}

func TestCredentialsOfAProfile(t *testing.T) {
	server(t)
	put(t, "s3://logs/o", []byte("hello"))
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	t.Setenv("AWS_PROFILE", "lab")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", file(t, []byte("[lab]\naws_access_key_id = "+versity.AccessKey+"\naws_secret_access_key = "+versity.SecretKey+"\n")))
	if got, err := read(t, "s3://logs/o"); err != nil || string(got) != "hello" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestInterruptedRead(t *testing.T) {
	s := server(t)
	put(t, "s3://logs/o", noise(1<<20))
	release := make(chan struct{})
	proxy(t, s, func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Range") != "" {
			<-release
		}
		return false
	})
	defer close(release)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	p, found, err := Find(ctx, "s3://logs/o")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Read(ctx, found[0]); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the end of the context", err)
	}
}
