package gateway

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// result is what came of one input.
type result struct {
	rows    []*trace.Request
	bodies  []string
	skipped map[string]int64
	refused []string
}

// decodeLines runs a JSON decoder over lines, then the rules every format shares.
func decodeLines(t testing.TB, f decode.Format, o decode.Options, data []byte) result {
	t.Helper()
	if o.Hash == nil {
		o.Hash = decode.NewHasher([]byte("0123456789abcdef"))
	}
	res := result{skipped: map[string]int64{}}
	c := decode.NewContext(o, "in.jsonl", func(r *trace.Request, body []byte) {
		trace.Check(r)
		res.rows, res.bodies = append(res.rows, r), append(res.bodies, string(body))
	}, func(reason string, n int64) { res.skipped[reason] += n })
	for _, line := range bytes.Split(bytes.TrimSpace(data), []byte("\n")) {
		c.Line++
		v, err := decode.Parse(line)
		if err == nil {
			err = f.JSON(c, v)
		}
		if err != nil {
			res.refused = append(res.refused, err.Error())
		}
	}
	return res
}

func read(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var r io.Reader = bytes.NewReader(b)
	switch {
	case strings.HasSuffix(name, ".gz"):
		if r, err = gzip.NewReader(r); err != nil {
			t.Fatal(err)
		}
	case strings.HasSuffix(name, ".zst"):
		if r, err = zstd.NewReader(r); err != nil {
			t.Fatal(err)
		}
	}
	if b, err = io.ReadAll(r); err != nil {
		t.Fatal(err)
	}
	return b
}

// truth is one line of the client's own record of the capture.
type truth struct {
	ID      string `json:"request_id"`
	Arrival int64
	First   *int64 `json:"first_us"`
	End     int64  `json:"end_us"`
	Class   string `json:"error_class"`
	Status  *int32 `json:"http_status"`
	Stream  bool
	Finish  string `json:"finish_reason"`
	Tenant  string
	App     string
	Session string `json:"session_id"`
	Turn    int32
	In      *int64 `json:"input_tokens"`
	Cached  *int64 `json:"cached_input_tokens"`
	Out     *int64 `json:"output_tokens"`
	Max     *int64 `json:"max_tokens"`
	Source  string `json:"tokens_source"`
}

func truths(t testing.TB) map[string]truth {
	m := map[string]truth{}
	s := bufio.NewScanner(bytes.NewReader(read(t, "../../testdata/truth/baseline.jsonl.gz")))
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		var x truth
		if err := json.Unmarshal(s.Bytes(), &x); err != nil {
			t.Fatal(err)
		}
		m[x.ID] = x
	}
	return m
}

// The whole capture against what its client measured. Figures: the capture's README, made without this program.
func TestLiteLLMCapture(t *testing.T) {
	res := decodeLines(t, LiteLLM(), decode.Options{}, read(t, "../../testdata/demo/baseline.litellm.jsonl.zst"))
	if len(res.rows) != 725 || len(res.refused) != 0 || len(res.skipped) != 0 {
		t.Fatalf("%d rows, refused %v, skipped %v; want 725 rows", len(res.rows), res.refused, res.skipped)
	}
	classes, derived, equal, counted, guessed := map[string]int{}, 0, 0, 0, 0
	var diffs []int64
	want := truths(t)
	for _, r := range res.rows {
		classes[r.ErrorClass]++
		if r.HasQuality(trace.QIDDerived) {
			derived++
			continue
		}
		w, ok := want[r.RequestID]
		if !ok {
			t.Fatalf("row %d: request id %q is none of the client's", r.SourceLine, r.RequestID)
		}
		delete(want, r.RequestID)
		if w.Class != "client_cancel" && w.Class != r.ErrorClass || w.Class == "client_cancel" && r.ErrorClass != "ok" {
			t.Errorf("%s: class %s, the client saw %s", w.ID, r.ErrorClass, w.Class)
		}
		if r.HTTPStatus != nil && *r.HTTPStatus != *w.Status {
			t.Errorf("%s: http status %d, want %d", w.ID, *r.HTTPStatus, *w.Status)
		}
		if r.Tenant != w.Tenant || r.App != w.App || r.SessionID != w.Session || *r.Turn != w.Turn || *r.MaxTokens != *w.Max {
			t.Errorf("%s: %q %q %q turn %d max %d; want %+v", w.ID, r.Tenant, r.App, r.SessionID, *r.Turn, *r.MaxTokens, w)
		}
		if r.Stream != nil && *r.Stream != w.Stream || r.Stream == nil && w.Stream {
			t.Errorf("%s: stream %v, want %v", w.ID, r.Stream, w.Stream)
		}
		if r.FinishReason != "" && w.Finish != "" && r.FinishReason != w.Finish {
			t.Errorf("%s: finish %q, want %q or unknown", w.ID, r.FinishReason, w.Finish)
		}
		if w.Source != "" {
			counted++
			if cmp.Equal([]*int64{r.InputTokens, r.CachedInputTokens, r.OutputTokens}, []*int64{w.In, w.Cached, w.Out}) && r.TokensSource == "usage" {
				equal++
			}
		} else if w.Class == "ok" && r.HasQuality(trace.QTokensEstimated) {
			guessed++
		}
		if w.Class == "ok" && w.Stream {
			if r.FirstUS == nil {
				t.Errorf("%s: no first token", w.ID)
				continue
			}
			if w.First != nil { // one stream had no content chunk at all
				diffs = append(diffs, *r.FirstUS-*w.First)
			}
		} else if r.FirstUS != nil && w.Class != "client_cancel" {
			t.Errorf("%s: first token %d on a call that had none", w.ID, *r.FirstUS)
		}
	}
	if diff := cmp.Diff(map[string]int{"ok": 696, "client_error": 16, "context_length": 8, "timeout": 4, "upstream_error": 1}, classes); diff != "" {
		t.Errorf("classes:\n%s", diff)
	}
	if derived != 4 || len(want) != 4 {
		t.Errorf("%d derived ids, %d of the client's requests not found; want the 4 refused keys", derived, len(want))
	}
	if counted != 631 || equal != 631 {
		t.Errorf("tokens of %d of %d rows with usage agree with the client; want 631 of 631", equal, counted)
	}
	if guessed != 47 {
		t.Errorf("%d streams without usage are marked as estimated; want 47", guessed)
	}
	checkTTFT(t, diffs)
}

// checkTTFT holds log minus client first-token times to the README: the proxy starts its clock late, so the log is
// short by 6 ms at the median, 45 at the 1st percentile, 568 at worst, and 39 of 600 are off by more than 20 ms.
func checkTTFT(t *testing.T, diffs []int64) {
	slices.Sort(diffs)
	far := 0
	for _, d := range diffs {
		if d > 20000 || d < -20000 {
			far++
		}
	}
	ms := func(us int64) int64 { return (us - 500) / 1000 } // to the nearest, below zero
	got := []int64{int64(len(diffs)), int64(far), ms(diffs[300]), ms(diffs[6]), ms(diffs[0])}
	if diff := cmp.Diff([]int64{600, 39, -6, -45, -568}, got); diff != "" {
		t.Errorf("n, n off by more than 20 ms, p50, p1, worst:\n%s", diff)
	}
}
