package bench

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

type result struct {
	rows    []*trace.Request
	bodies  []string
	skipped map[string]int64
	refused []string
}

func (res *result) context(o decode.Options) *decode.Context {
	o.Hash = decode.NewHasher([]byte("0123456789abcdef"))
	res.skipped = map[string]int64{}
	return decode.NewContext(o, "in.json", func(r *trace.Request, body []byte) {
		trace.Check(r)
		res.rows, res.bodies = append(res.rows, r), append(res.bodies, string(body))
	}, func(reason string, n int64) { res.skipped[reason] += n })
}

// documents decodes JSON objects, one a line.
func documents(t testing.TB, f decode.Format, data string) *result {
	t.Helper()
	res := &result{}
	c := res.context(decode.Options{KeepBodies: true})
	for line := range strings.SplitSeq(strings.TrimSpace(data), "\n") {
		c.Line++
		v, err := decode.Parse([]byte(line))
		if err == nil {
			err = f.JSON(c, v)
		}
		if err != nil {
			res.refused = append(res.refused, err.Error())
		}
	}
	return res
}

func unzip(t testing.TB, name string) []byte {
	t.Helper()
	f, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// n makes an optional number.
func n(v int64) *int64 { return &v }

// seen is what the server wrote down about one request.
type seen struct {
	I                 int
	Rid               string
	Arr, Hdr, Done, N int64
	Pt                int64
	W                 []int64
}

func truth(t *testing.T, tool string) (list []seen) {
	d := json.NewDecoder(bytes.NewReader(unzip(t, tool+".truth.jsonl.gz")))
	for d.More() {
		var s seen
		if err := d.Decode(&s); err != nil {
			t.Fatal(err)
		}
		list = append(list, s)
	}
	return list
}

// capture decodes a tool's export: lines, or the objects of an array.
func capture(t *testing.T, f decode.Format, name string) *result {
	data := unzip(t, name)
	if data[0] != '[' {
		return documents(t, f, string(data))
	}
	var list []json.RawMessage
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	var lines bytes.Buffer
	for _, o := range list {
		if err := json.Compact(&lines, o); err != nil {
			t.Fatal(err)
		}
		lines.WriteByte('\n')
	}
	return documents(t, f, lines.String())
}

// TestCaptures holds each tool's export against the server's own account of the same 20 requests. The client sees a token
// after it was written and starts its clock before the request arrives, so every time of ours is later than the server's
// or equal, by what loopback and the tool's event loop took: up to 6 ms, in one request of vllm-bench and one of
// inference-perf up to 34 ms (other work ran on the machine).
func TestCaptures(t *testing.T) {
	const late, latest = 6000, 34000 // us
	for _, tool := range []struct {
		format        decode.Format
		file          string
		match         func(*trace.Request, seen) bool // nil: by order of start
		chunks, input bool                            // whether it keeps chunks, and the server's count of the prompt
	}{
		{AIPerf(), "aiperf.jsonl.gz", func(r *trace.Request, s seen) bool { return r.RequestID == s.Rid }, true, true},
		{GuideLLM(), "guidellm.json.gz", func(r *trace.Request, s seen) bool { return r.ResponseID == "chatcmpl-"+itoa(s.I) }, false, true},
		{VLLM(), "vllm-bench.json.gz", nil, true, false}, // its input_lens is its own count: 48 where the server counted 16 to 24
		{InferencePerf(), "inference-perf.json.gz", nil, true, true},
	} {
		t.Run(tool.format.Name, func(t *testing.T) {
			res, server := capture(t, tool.format, tool.file), truth(t, tool.format.Name)
			if len(res.rows) != 20 || len(res.refused) != 0 {
				t.Fatalf("%d rows, refused %v", len(res.rows), res.refused)
			}
			slow := map[string]bool{}
			for i, r := range res.rows {
				s := server[i]
				for _, x := range server {
					if tool.match != nil && tool.match(r, x) {
						s = x
					}
				}
				check := func(what string, got *int64, want int64) {
					if got == nil || *got < want || *got > want+latest {
						t.Errorf("%s: %s %v, the server says %d", r.RequestID, what, deref(got), want)
					} else if *got > want+late {
						slow[r.RequestID] = true
					}
				}
				if r.HeadersUS != nil {
					check("headers_us", r.HeadersUS, (s.Hdr-s.Arr)/1000)
				}
				check("first_us", r.FirstUS, (s.W[0]-s.Arr)/1000)
				check("last_us", r.LastUS, (s.W[63]-s.Arr)/1000)
				check("end_us", r.EndUS, (s.Done-s.Arr)/1000)
				if *r.OutputTokens != s.N || tool.input && *r.InputTokens != s.Pt || r.ErrorClass != "ok" {
					t.Errorf("%s: tokens %d in %d out, %s; the server says %d in %d out", r.RequestID, *r.InputTokens, *r.OutputTokens, r.ErrorClass, s.Pt, s.N)
				}
				if tool.chunks {
					stalls(t, r)
				}
			}
			if len(slow) > 1 {
				t.Errorf("late by more than %d us: %v", late, slow)
			}
		})
	}
}

// stalls: 64 tokens in 64 chunks, with a pause of 200 ms before tokens 17, 33 and 49 and nowhere else.
func stalls(t *testing.T, r *trace.Request) {
	if len(r.GapsUS) != 64 {
		t.Errorf("%s: %d chunks", r.RequestID, len(r.GapsUS))
		return
	}
	for i, gap := range r.GapsUS[1:] {
		if slow := i%16 == 15; slow != (gap > 150_000) || gap > 200_000+34_000 {
			t.Errorf("%s: gap %d is %d us", r.RequestID, i+1, gap)
		}
	}
}

func deref(n *int64) any {
	if n == nil {
		return nil
	}
	return *n
}

func itoa(n int) string { b, _ := json.Marshal(n); return string(b) }

// TestDetect: each tool's file is its own format with two signs or more, and nobody else's.
func TestDetect(t *testing.T) {
	formats := []decode.Format{AIPerf(), GuideLLM(), VLLM(), GenAIPerf(), InferencePerf()}
	for i, f := range formats {
		text := strings.TrimSuffix(strings.TrimPrefix(f.Example, "["), "]")
		v, err := decode.Parse([]byte(text))
		if err != nil {
			t.Fatal(f.Name, err)
		}
		for j, g := range formats {
			if signs := g.Detect(&decode.Sample{Records: []*decode.Value{v}}); (signs >= 2) != (i == j) {
				t.Errorf("%s sees %d signs in the example of %s", g.Name, signs, f.Name)
			}
		}
	}
	sglang := `{"backend":"sglang","dataset_name":"random","sharegpt_output_len":null,"total_output_tokens_retokenized":9,"input_lens":[1],"output_lens":[1],"ttfts":[0.1],"itls":[[]],"generated_texts":[""],"errors":[""]}`
	v, _ := decode.Parse([]byte(sglang))
	if signs := VLLM().Detect(&decode.Sample{Records: []*decode.Value{v}}); signs != 0 {
		t.Errorf("%d signs in SGLang's file, whose itls are no chunk gaps", signs)
	}
}

// fuzz: a document gives rows that Check leaves storable, or a refusal, never a panic and never both.
func fuzz(f *testing.F, format decode.Format, seeds ...string) {
	for _, s := range append(seeds, strings.TrimSuffix(strings.TrimPrefix(format.Example, "["), "]")) {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := decode.Parse(bytes.Clone(data))
		if err != nil || v.GetObject() == nil {
			return
		}
		res := &result{}
		err = format.JSON(res.context(decode.Options{KeepBodies: true}), v)
		if err != nil && len(res.rows) > 0 || err == nil && len(res.rows) == 0 && len(res.skipped) == 0 {
			t.Fatalf("%d rows, skipped %v, error %v", len(res.rows), res.skipped, err)
		}
		for _, r := range res.rows {
			sound(t, r)
		}
	})
}

// sound holds what no input may break.
func sound(t *testing.T, r *trace.Request) {
	for _, d := range []*int64{r.FirstUS, r.FirstVisibleUS, r.HeadersUS, r.LastUS, r.EndUS, r.QueueUS, r.PrefillUS, r.DecodeUS, r.InputTokens, r.OutputTokens} {
		if d != nil && *d < 0 {
			t.Errorf("negative: %+v", r)
		}
	}
	if r.RequestID == "" || r.FirstUS != nil && r.TTFTKind == "" || r.FirstUS != nil && r.EndUS != nil && *r.FirstUS > *r.EndUS {
		t.Errorf("unsound: %+v", r)
	}
}

func FuzzAIPerf(f *testing.F)        { fuzz(f, AIPerf(), hostileAIPerf...) }
func FuzzGuideLLM(f *testing.F)      { fuzz(f, GuideLLM(), oldGuide, middleGuide, hostileGuide) }
func FuzzVLLM(f *testing.F)          { fuzz(f, VLLM(), failedVLLM) }
func FuzzGenAIPerf(f *testing.F)     { fuzz(f, GenAIPerf(), keptGenAI) }
func FuzzInferencePerf(f *testing.F) { fuzz(f, InferencePerf(), failedPerf) }
