package mapping

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// TestSamples compares all that the presets read of documented records with values written by hand from formats.md.
func TestSamples(t *testing.T) {
	a, err := txtar.ParseFile("testdata/samples.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(a.Files); i += 2 {
		name := strings.TrimSuffix(a.Files[i].Name, ".jsonl")
		t.Run(name, func(t *testing.T) {
			got := read(t, preset(t, name), decode.Options{}, a.Files[i].Data)
			for _, err := range got.errs {
				t.Error(err)
			}
			var lines []string
			for _, r := range got.rows {
				lines = append(lines, normal(t, filled(&r)))
			}
			for _, reason := range slices.Sorted(maps.Keys(got.skipped)) {
				lines = append(lines, fmt.Sprintf("skipped %s %d", reason, got.skipped[reason]))
			}
			var want []string
			for _, line := range strings.Split(strings.TrimSpace(string(a.Files[i+1].Data)), "\n") {
				if m := map[string]any{}; json.Unmarshal([]byte(line), &m) == nil {
					line = normal(t, m)
				}
				want = append(want, line)
			}
			if d := cmp.Diff(want, lines); d != "" {
				t.Error(d)
			}
		})
	}
}

var hashed = regexp.MustCompile(`^[0-9a-f]{32}$`)

// filled gives the columns that hold something, without those that every row of this test has alike.
func filled(r *trace.Request) map[string]any {
	m := map[string]any{}
	v := reflect.ValueOf(r).Elem()
	for _, f := range append(fields(), field{name: "quality", index: v.NumField() - 1}) {
		value := v.Field(f.index)
		if value.Kind() == reflect.Pointer && !value.IsNil() {
			value = value.Elem()
		} else if value.IsZero() {
			continue
		}
		m[f.name] = value.Interface()
	}
	if r.Arrival != nil {
		m["arrival"] = time.UnixMicro(*r.Arrival).UTC().Format(time.RFC3339Nano)
	}
	for _, name := range []string{"user_hash", "key_hash"} {
		if s, ok := m[name].(string); ok && hashed.MatchString(s) {
			m[name] = "hash"
		}
	}
	if r.RootRequestID == r.RequestID {
		delete(m, "root_request_id")
	}
	if r.Attempt == 1 {
		delete(m, "attempt")
	}
	delete(m, "clock_domain")
	return m
}

func normal(t *testing.T, m map[string]any) string {
	t.Helper()
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Keys are always hashed; users are unless the person asked for plain ids.
func TestUsersAndKeysAreHashed(t *testing.T) {
	line := []byte(`{"id":"1","timestamp":"2026-11-29T10:00:00Z","object":"chat","provider":"p","number_of_retries":0,"fallback_index":0,"user_id":"ann","virtual_key_id":"sk-1"}`)
	for _, plain := range []bool{false, true} {
		r := read(t, preset(t, "bifrost"), decode.Options{PlainUser: plain}, line).rows[0]
		if plain != (r.UserHash == "ann") || r.KeyHash == "sk-1" || !hashed.MatchString(r.KeyHash) {
			t.Errorf("plain %v: user %q, key %q", plain, r.UserHash, r.KeyHash)
		}
	}
}

// TestExampleRows compares what the example of each preset becomes with testdata/examples.txtar: each checked by hand against the
// example and what the preset says of itself, one file a preset.
func TestExampleRows(t *testing.T) {
	a, err := txtar.ParseFile("testdata/examples.txtar")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, f := range a.Files {
		want[f.Name] = strings.TrimSpace(string(f.Data))
	}
	for _, p := range Presets() {
		text := strings.TrimPrefix(p.Example, "data: ") // an event stream's prefix, which ingest takes off
		got := read(t, p, decode.Options{}, []byte(text))
		var lines []string
		for _, r := range got.rows {
			lines = append(lines, normal(t, filled(&r)))
		}
		for reason, n := range got.skipped {
			lines = append(lines, fmt.Sprintf("skipped %s %d", reason, n))
		}
		for _, err := range got.errs {
			lines = append(lines, err.Error())
		}
		w := want[p.Name]
		if m := map[string]any{}; json.Unmarshal([]byte(w), &m) == nil {
			w = normal(t, m)
		}
		if d := cmp.Diff(w, strings.Join(lines, "\n")); d != "" {
			t.Errorf("%s:\n%s", p.Name, d)
		}
	}
	if len(want) != len(Presets()) {
		t.Errorf("%d rows for %d presets", len(want), len(Presets()))
	}
}
