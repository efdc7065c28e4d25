package mapping

import (
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// FuzzNew: any text gives a format that works or an error that names the file; never a panic or a loop.
func FuzzNew(f *testing.F) {
	f.Add([]byte(good), []byte(`{"began":"2026-11-29T10:00:00Z","took":1}`))
	f.Add([]byte("a: &a {path: x, and: *a}\nskip: [*a]"), []byte(`{}`))
	f.Add([]byte("name: &x [*x]\n<<: *x"), []byte(`{}`))
	names, err := files.ReadDir("presets")
	if err != nil {
		f.Fatal(err)
	}
	for _, n := range names {
		text, err := files.ReadFile("presets/" + n.Name())
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, []byte(`{"duration":1}`))
	}
	f.Fuzz(func(t *testing.T, text, record []byte) {
		format, err := New("m.yaml", text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "m.yaml") {
				t.Fatalf("the error does not name the file: %v", err)
			}
			return
		}
		sound(t, format, record)
	})
}

// FuzzRecord: whatever a record holds, each preset makes of it one request that keeps the rules, a skip or an error.
func FuzzRecord(f *testing.F) {
	a, err := txtar.ParseFile("testdata/samples.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range a.Files {
		line, _, _ := strings.Cut(string(file.Data), "\n")
		f.Add([]byte(line))
	}
	f.Add([]byte(`{"start_time":"x","duration":-5,"response_flags":",,","response_code":"000"}`))
	f.Add([]byte("k=\"v\\\"\" =x a= \x1b[1mb=\"open"))
	presets := Presets()
	for _, p := range presets {
		f.Add([]byte(p.Example))
	}
	f.Fuzz(func(t *testing.T, record []byte) {
		for _, p := range presets {
			sound(t, p, record)
		}
	})
}

func sound(t *testing.T, format decode.Format, record []byte) {
	t.Helper()
	sample := &decode.Sample{Head: record}
	if v, err := decode.Parse(record); err == nil && v.Type() == decode.TypeObject {
		sample.Records = append(sample.Records, v)
	}
	format.Detect(sample)
	n := 0
	c := decode.NewContext(decode.Options{Hash: decode.NewHasher([]byte("k"))}, "f", func(r *trace.Request, _ []byte) {
		n++
		trace.Check(r)
		switch {
		case r.RequestID == "" || r.Arrival == nil && !r.HasQuality(trace.QEndOnly) && !r.HasQuality(trace.QTimeRange):
			t.Errorf("%s: a row without id or time: %+v", format.Name, r)
		case (r.FirstUS == nil) != (r.TTFTKind == ""):
			t.Errorf("%s: first %v but kind %q", format.Name, r.FirstUS, r.TTFTKind)
		case r.InputTokens != nil && *r.InputTokens <= 0:
			t.Errorf("%s: %d input tokens", format.Name, *r.InputTokens)
		}
	}, func(string, int64) { n++ })
	if err := lineDecoder(format)(c, record); (err != nil) == (n == 1) || n > 1 {
		t.Errorf("%s: %d rows and skips, error %v", format.Name, n, err)
	}
}
