package otel

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// run is what came of decoding an input.
type run struct {
	rows    []*trace.Request
	bodies  []string
	skipped map[string]int
}

func newRun(o decode.Options) (*run, *decode.Context) {
	got := &run{skipped: map[string]int{}}
	if o.Hash == nil {
		o.Hash = testHasher
	}
	return got, decode.NewContext(o, "spans.json", func(r *trace.Request, body []byte) {
		got.rows = append(got.rows, r)
		got.bodies = append(got.bodies, string(body))
	}, func(reason string, n int64) { got.skipped[reason] += int(n) })
}

var testHasher = decode.NewHasher([]byte("a key of the tests"))

// decodeJSON decodes records with a format, as ingest would hand them over.
func decodeJSON(t *testing.T, f decode.Format, o decode.Options, records ...string) *run {
	t.Helper()
	got, c := newRun(o)
	var p decode.Parser
	for _, record := range records {
		c.Line++
		b := []byte(record)
		v, err := p.ParseBytes(b)
		if err != nil {
			t.Fatalf("record %d: %v", c.Line, err)
		}
		if err := f.JSON(c, v); err != nil {
			t.Fatalf("record %d: %v", c.Line, err)
		}
		spoil(c, b)
		spoilParser(t, &p, len(b))
	}
	got.own(t)
	return got
}

// own checks that no row holds a view of what was spoilt.
func (got *run) own(t *testing.T) {
	t.Helper()
	for _, r := range got.rows {
		for _, f := range reflect.ValueOf(*r).Fields() {
			if f.Kind() == reflect.String && strings.Contains(f.String(), "!!") {
				t.Errorf("a text was not copied: %+v", r)
			}
		}
	}
}

// spoil overwrites a record and what was written for it, as the next record would: a request that holds a view of them
// shows it.
func spoil(c *decode.Context, record []byte) {
	m := scratch(c)
	for _, b := range [][]byte{record, m.text, m.prompt} {
		b = b[:cap(b)]
		for i := range b {
			b[i] = '!'
		}
	}
	for _, p := range m.inner {
		spoil(&decode.Context{}, p.out)
		spoilParser(nil, &p.Parser, len(record))
	}
}

func spoilParser(t testing.TB, p *decode.Parser, n int) {
	v, err := p.ParseBytes([]byte(`"` + strings.Repeat(`\u0021`, n) + `"`))
	if err != nil {
		t.Fatal(err)
	}
	v.GetStringBytes()
}

func decodeProto(t *testing.T, messages ...[]byte) *run {
	t.Helper()
	got, c := newRun(decode.Options{})
	for _, m := range messages {
		c.Line++
		b := bytes.Clone(m)
		if err := Proto().Message(c, b); err != nil {
			t.Fatalf("message %d: %v", c.Line, err)
		}
		spoil(c, b)
	}
	got.own(t)
	return got
}

// readData reads a file of testdata, packed or not.
func readData(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(name, ".gz") {
		return b
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if b, err = io.ReadAll(z); err != nil {
		t.Fatal(err)
	}
	return b
}

func lines(t testing.TB, name string) (list []string) {
	s := bufio.NewScanner(bytes.NewReader(readData(t, name)))
	s.Buffer(nil, 1<<26)
	for s.Scan() {
		list = append(list, s.Text())
	}
	return list
}

// frames cuts the collector's framing: a length in four bytes, then the message.
func frames(t testing.TB, name string) (list [][]byte) {
	b := readData(t, name)
	for len(b) > 4 {
		n := binary.BigEndian.Uint32(b)
		list = append(list, b[4:4+n])
		b = b[4+n:]
	}
	return list
}

// truths reads one JSON object a line into values of type T, by id.
func truths[T any](t *testing.T, name string, id func(T) string) map[string]T {
	t.Helper()
	all := map[string]T{}
	for _, line := range lines(t, name) {
		var x T
		if err := json.Unmarshal([]byte(line), &x); err != nil {
			t.Fatal(err)
		}
		all[id(x)] = x
	}
	return all
}

// oneSpan wraps attributes, given as JSON of an attribute map, and more members of a span into a record.
func oneSpan(attributes, more string) string {
	if more != "" {
		more = "," + more
	}
	return `{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"chat m","traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174",` +
		`"startTimeUnixNano":"1735689600000000000","endTimeUnixNano":"1735689602000000000","attributes":` + attributes + more + `}]}]}]}`
}

// only decodes a record that must give exactly one row.
func only(t *testing.T, record string) *trace.Request {
	t.Helper()
	got := decodeJSON(t, JSON(), decode.Options{}, record)
	if len(got.rows) != 1 {
		t.Fatalf("got %d rows, skipped %v; want one row", len(got.rows), got.skipped)
	}
	return got.rows[0]
}

func show[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}
