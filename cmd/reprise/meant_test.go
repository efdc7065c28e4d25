package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A target that knows neither the key nor the model is told from one another, with what to do, before any load is sent.
func TestTargetRefuses(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	t.Setenv("XDG_CACHE_HOME", dir)
	log := filepath.Join(dir, "log.jsonl")
	if err := os.WriteFile(log, []byte(`{"request_id":"r0","arrival":1794182400000000,"end_us":1000000,"input_tokens":9,"output_tokens":5,"error_class":"ok","model_requested":"m"}`+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for status, want := range map[int][2]string{401: {"refuses the key: HTTP 401", "--api-key-env"}, 404: {`knows no model "m" or no such path: HTTP 404`, "--model or --model-map"}} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "{}", status) }))
		defer s.Close()
		var talk bytes.Buffer
		code := (&app{out: &talk, err: &talk}).run(context.Background(), []string{"replay", log, "--target", s.URL + "/v1", "-o", filepath.Join(dir, "out")})
		if code != exitError || !strings.Contains(talk.String(), want[0]) || !strings.Contains(talk.String(), want[1]) {
			t.Errorf("%d: exit code %d, want %q\n%s", status, code, want, talk.String())
		}
		if _, err := os.Stat(filepath.Join(dir, "out")); err == nil {
			t.Errorf("%d: a folder was left", status)
		}
	}
	lists := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path != "/v1/models" {
			http.Error(w, "{}", http.StatusNotFound)
			return
		}
		fmt.Fprint(w, `{"object":"list","data":[{"id":"llama-70b"},{"id":"llama-8b"}]}`)
	}))
	defer lists.Close()
	var talk bytes.Buffer
	(&app{out: &talk, err: &talk}).run(context.Background(), []string{"replay", log, "--target", lists.URL + "/v1", "-o", filepath.Join(dir, "out")})
	if want := "the target serves llama-70b, llama-8b: --model llama-70b"; !strings.Contains(talk.String(), want) {
		t.Errorf("want %q\n%s", want, talk.String())
	}
}
