package engine

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
	skipped map[string]int64
	refused []string
}

func newContext(res *result, o decode.Options) *decode.Context {
	o.Hash = decode.NewHasher([]byte("0123456789abcdef"))
	res.skipped = map[string]int64{}
	return decode.NewContext(o, "in.log", func(r *trace.Request, _ []byte) {
		trace.Check(r)
		res.rows = append(res.rows, r)
	}, func(reason string, n int64) { res.skipped[reason] += n })
}

// read decodes lines: as JSON where the format reads it and the line is an object, else as text.
func read(t testing.TB, f decode.Format, data string) *result {
	t.Helper()
	res := &result{}
	c := newContext(res, decode.Options{})
	g := decode.Group{JSON: f.JSON, Line: f.Line}
	if f.Group != nil {
		g = f.Group()
	}
	for line := range strings.SplitSeq(data, "\n") {
		c.Line++
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		var err error
		if v, bad := decode.Parse([]byte(line)); g.JSON != nil && (g.Line == nil || bad == nil && v.GetObject() != nil) {
			if err = bad; err == nil {
				err = g.JSON(c, v)
			}
		} else {
			err = g.Line(c, []byte(line))
		}
		if err != nil {
			res.refused = append(res.refused, err.Error())
		}
	}
	if g.End != nil {
		g.End(c)
	}
	return res
}

// one reads a text that gives one row and nothing else.
func oneRow(t *testing.T, f decode.Format, data string) *trace.Request {
	t.Helper()
	res := read(t, f, data)
	if len(res.rows) != 1 || len(res.refused) != 0 {
		t.Fatalf("%d rows, refused %q, skipped %v", len(res.rows), res.refused, res.skipped)
	}
	return res.rows[0]
}

func file(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(name, ".gz") {
		return string(b)
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if b, err = io.ReadAll(z); err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// jsonLines reads a truth file.
func jsonLines[T any](t *testing.T, name string) (list []T) {
	d := json.NewDecoder(strings.NewReader(file(t, name)))
	for d.More() {
		var x T
		if err := d.Decode(&x); err != nil {
			t.Fatal(err)
		}
		list = append(list, x)
	}
	return list
}

func n(v int64) *int64 { return &v }

func is(p *int64, v int64) bool { return p != nil && *p == v }

var formats = []decode.Format{VLLMLog(), VLLMMetrics(), SGLang(), SGLangMetrics(), TGI(), LlamaCPP(), LlamaCPPLog(), Ollama(), OllamaLog(), TensorRTLLM()}

// TestDetect: each example is its own format with two signs or more, and nobody else's.
func TestDetect(t *testing.T) {
	for i, f := range formats {
		s := &decode.Sample{Head: []byte(f.Example)}
		for _, text := range objects(f.Example) {
			v, err := decode.Parse(text)
			if err != nil {
				t.Fatal(f.Name, err)
			}
			s.Records = append(s.Records, v)
		}
		for j, g := range formats {
			if signs := g.Detect(s); (signs >= 2) != (i == j) {
				t.Errorf("%s sees %d signs in the example of %s", g.Name, signs, f.Name)
			}
		}
	}
}

// objects cuts an example into its JSON objects; none when it is text.
func objects(text string) (list [][]byte) {
	if text[0] == '[' && text[1] == '{' {
		var raw []json.RawMessage
		if json.Unmarshal([]byte(text), &raw) == nil {
			for _, r := range raw {
				list = append(list, r)
			}
		}
	} else if text[0] == '{' {
		list = append(list, []byte(text))
	}
	return list
}

// fuzz: any text is counted, once a line, and gives rows that hold together.
func fuzz(f *testing.F, format decode.Format, seeds ...string) {
	for _, s := range append(seeds, format.Example) {
		f.Add(s)
		for _, o := range objects(s) {
			f.Add(string(o))
		}
	}
	f.Fuzz(func(t *testing.T, data string) {
		if len(data) > 1<<16 {
			return
		}
		res := read(t, format, data)
		lines := 0
		for line := range strings.SplitSeq(data, "\n") {
			if strings.TrimSpace(line) != "" {
				lines++
			}
		}
		counted := len(res.rows) + len(res.refused)
		for _, k := range res.skipped {
			counted += int(k)
		}
		if counted < lines {
			t.Fatalf("%d lines, %d rows, %d refused, skipped %v", lines, len(res.rows), len(res.refused), res.skipped)
		}
		for _, r := range res.rows {
			sound(t, r)
		}
	})
}

// sound holds what no input may break.
func sound(t *testing.T, r *trace.Request) {
	for _, d := range []*int64{r.FirstUS, r.LastUS, r.EndUS, r.QueueUS, r.PrefillUS, r.DecodeUS, r.InputTokens, r.CachedInputTokens, r.OutputTokens} {
		if d != nil && *d < 0 {
			t.Errorf("negative: %+v", r)
		}
	}
	if r.RequestID == "" || r.Vantage != "engine" || r.FirstUS != nil && r.TTFTKind == "" || r.CachedInputTokens != nil && r.InputTokens != nil && *r.CachedInputTokens > *r.InputTokens {
		t.Errorf("unsound: %+v", r)
	}
}

func FuzzVLLMLog(f *testing.F)       { fuzz(f, VLLMLog(), oldVLLM, outputsVLLM) }
func FuzzVLLMMetrics(f *testing.F)   { fuzz(f, VLLMMetrics(), statsVLLM) }
func FuzzSGLang(f *testing.F)        { fuzz(f, SGLang(), abortedSGLang, sglangText) }
func FuzzSGLangMetrics(f *testing.F) { fuzz(f, SGLangMetrics()) }
func FuzzTGI(f *testing.F)           { fuzz(f, TGI(), tgiTexts, tgiObject) }
func FuzzLlamaCPP(f *testing.F)      { fuzz(f, LlamaCPP(), ownLlama) }
func FuzzLlamaCPPLog(f *testing.F)   { fuzz(f, LlamaCPPLog(), oldLlama) }
func FuzzOllama(f *testing.F)        { fuzz(f, Ollama()) }
func FuzzOllamaLog(f *testing.F)     { fuzz(f, OllamaLog(), file(f, "ollama.log")) }
func FuzzTensorRTLLM(f *testing.F)   { fuzz(f, TensorRTLLM(), disaggregated) }
