package gateway

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// decodeCSV runs a CSV decoder over a file, then the rules every format shares.
func decodeCSV(t testing.TB, f decode.Format, o decode.Options, data string) result {
	t.Helper()
	o.Hash = decode.NewHasher([]byte("0123456789abcdef"))
	r := csv.NewReader(strings.NewReader(data))
	header, err := r.Read()
	if err != nil {
		t.Fatal(err)
	}
	row, err := f.CSV(header)
	if err != nil {
		t.Fatal(err)
	}
	res := result{skipped: map[string]int64{}}
	c := decode.NewContext(o, "in.csv", func(r *trace.Request, body []byte) {
		trace.Check(r)
		res.rows, res.bodies = append(res.rows, r), append(res.bodies, string(body))
	}, func(reason string, n int64) { res.skipped[reason] += n })
	for c.Line = 2; ; c.Line++ {
		fields, err := r.Read()
		if errors.Is(err, io.EOF) {
			return res
		}
		if err == nil {
			err = row(c, fields)
		}
		if err != nil {
			res.refused = append(res.refused, err.Error())
		}
	}
}

// brief shows what the cases below are about.
func brief(r *trace.Request) string {
	p := func(n *int64) string {
		if n == nil {
			return "-"
		}
		return fmt.Sprint(*n)
	}
	b := func(b *bool) string {
		if b == nil {
			return "-"
		}
		return fmt.Sprint(*b)
	}
	return fmt.Sprintf("%s %s first=%s end=%s stream=%s hit=%s in=%s/%s out=%s/%s %s", r.RequestID, r.ErrorClass, p(r.FirstUS), p(r.EndUS),
		b(r.Stream), b(r.CachedResponse), p(r.InputTokens), p(r.CachedInputTokens), p(r.OutputTokens), p(r.ReasoningTokens), r.Quality)
}

// The file was written by hand for these cases.
func TestSpendLogsCSV(t *testing.T) {
	res := decodeCSV(t, SpendLogs(), decode.Options{KeepBodies: true}, string(read(t, "testdata/spendlogs.csv")))
	want := []string{
		"chatcmpl-1 ok first=500000 end=2000000 stream=true hit=- in=900/512 out=100/40 naive_time",
		// A replay from the response cache: its first-token stamp is the end and says nothing.
		"chatcmpl-1_cache_hit1786000000.5 ok first=- end=4000 stream=- hit=true in=900/- out=100/- naive_time",
		"c-3 rate_limited first=- end=200000 stream=- hit=- in=-/- out=-/- naive_time",
		"chatcmpl-6 ok first=- end=2000000 stream=false hit=- in=50/- out=7/- naive_time,system_tokens_estimated",
	}
	var got []string
	for _, r := range res.rows {
		got = append(got, brief(r))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("-want +got\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int64{"not_a_model_call": 1}, res.skipped); diff != "" {
		t.Error(diff)
	}
	if len(res.refused) != 1 || !strings.Contains(res.refused[0], `line 6: bad_time: startTime: expected a time`) {
		t.Errorf("refused %q", res.refused)
	}
	r := res.rows[0]
	names := []string{r.Tenant, r.App, r.Replica, r.ModelRequested, r.ModelServed, r.Deployment, r.Provider, r.SessionID, r.ResponseID, r.EndpointKind}
	if diff := cmp.Diff([]string{"shop", "shop", "10.0.0.7:8000", "chat-default", "qwen3", "m-1", "hosted_vllm", "conv-7", "chatcmpl-1", "chat"}, names); diff != "" {
		t.Error(diff)
	}
	if *r.Arrival != 1785947436080000 || r.TimePrecision != 1000 || r.Attempt != 3 { // date -u -d '2026-08-05 16:30:36' +%s
		t.Errorf("arrival %d, precision %d, attempt %d", *r.Arrival, r.TimePrecision, r.Attempt)
	}
	if r := res.rows[1]; r.ResponseID != "chatcmpl-1" || r.Tenant != "team-a" {
		t.Errorf("cache hit: response id %q, tenant %q", r.ResponseID, r.Tenant)
	}
	if r := res.rows[2]; *r.HTTPStatus != 429 || r.ResponseID != "" {
		t.Errorf("status %d, response id %q", *r.HTTPStatus, r.ResponseID)
	}
	// system + NUL + abc = 10 of 10+1+4+1+6+1 = 23 bytes of 50 tokens: 21.7
	if r := res.rows[3]; *r.SystemPromptTokens != 22 || *r.Turn != 1 || *r.MaxTokens != 64 {
		t.Errorf("system %d, turn %d, max %d", *r.SystemPromptTokens, *r.Turn, *r.MaxTokens)
	}
	body := `{"model":"chat-default","messages":[{"role":"system","content":"abc"},{"role":"user","content":"defghi"}],"stream":false,"max_tokens":64}`
	if res.bodies[3] != body || res.bodies[0] != "" {
		t.Errorf("bodies %q", res.bodies)
	}
}

// LiteLLM's own samples: a Pub/Sub row, and the aborted stream of issue 35958 (its first token is 1 ms before its end).
func TestSpendLogsPublicSamples(t *testing.T) {
	for name, want := range map[string]string{
		"spend_logs_payload":      "chatcmpl-2283081b-dc89-41f6-93e6-d4f914774027 ok first=- end=4583 stream=- hit=- in=10/- out=20/- naive_time",
		"issue35958_spendlog_row": "cf90e682-08b9-420c-8d1d-b09fd32c590b unknown first=- end=9575000 stream=true hit=- in=45/- out=511/- tokens_estimated,ttft_equals_end",
	} {
		res := decodeLines(t, SpendLogs(), decode.Options{}, read(t, "testdata/"+name+".jsonl"))
		if len(res.rows) != 1 || brief(res.rows[0]) != want {
			t.Errorf("%s: refused %v, got\n%s, want\n%s", name, res.refused, brief(res.rows[0]), want)
		}
	}
}

func TestSpendLogsHeader(t *testing.T) {
	_, err := SpendLogs().CSV([]string{"request_id", "spend", "call_type", "startTime"})
	if err == nil || !strings.Contains(err.Error(), `expected a column "endTime"`) {
		t.Errorf("got %v; want the missing column", err)
	}
}

// Each shape must know itself and not the other.
func TestDetect(t *testing.T) {
	sample := func(name string) *decode.Sample {
		v, err := decode.Parse(read(t, "testdata/"+name+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		return &decode.Sample{Records: []*decode.Value{v}}
	}
	header := &decode.Sample{Header: strings.Split(strings.SplitN(string(read(t, "testdata/spendlogs.csv")), "\n", 2)[0], ",")}
	for _, c := range []struct {
		sample *decode.Sample
		a, b   int
	}{
		{sample("standard_logging_payload"), 5, 0},
		{sample("spend_logs_payload"), 2, 7},
		{sample("issue35958_spendlog_row"), 2, 5},
		{header, 0, 7}, {&decode.Sample{}, 0, 0},
	} {
		if a, b := LiteLLM().Detect(c.sample), SpendLogs().Detect(c.sample); a != c.a || b != c.b {
			t.Errorf("signs %d and %d; want %d and %d", a, b, c.a, c.b)
		}
	}
}
