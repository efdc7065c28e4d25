package wire

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func parse(pieces ...string) (got []string, err error) {
	var p Parser
	emit := func(e Event) { got = append(got, fmt.Sprintf("%s|%s", e.Name, e.Data)) }
	for _, b := range pieces {
		if err := p.Feed([]byte(b), 0, emit); err != nil {
			return got, err
		}
	}
	return got, nil
}

// The examples of the HTML standard, section 9.2.6.
func TestStandardExamples(t *testing.T) {
	for in, want := range map[string][]string{
		"data: YHOO\ndata: +2\ndata: 10\n\n": {"|YHOO\n+2\n10"},
		": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n": {"|first event", "|second event", "| third event"},
		"data\n\ndata\ndata\n\ndata:":                                            {"|", "|\n"},
		"data:test\n\ndata: test\n\n":                                            {"|test", "|test"},
		"event: add\ndata: 73857293\n\nevent: remove\ndata: 2153\n\ndata: x\n\n": {"add|73857293", "remove|2153", "|x"},
		"event: add\n\ndata: x\n\n":                                              {"|x"},
		"data: a\n":                                                              nil,
		"Data: a\n\n":                                                            nil,
		"data : a\n\n":                                                           nil,
	} {
		got, err := parse(in)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%q: %s", in, d)
		}
	}
}

func TestEventTime(t *testing.T) {
	var p Parser
	var at []time.Duration
	emit := func(e Event) { at = append(at, e.At) }
	for i, b := range []string{"da", "ta: x\n", "\n", "data: y\n\n"} {
		p.Feed([]byte(b), time.Duration(i), emit)
	}
	if d := cmp.Diff([]time.Duration{1, 3}, at); d != "" {
		t.Errorf("an event has the time of its last data line: %s", d)
	}
}

// reference cuts a whole stream by the standard's grammar, the slow and obvious way.
func reference(all string) (got []string) {
	all = strings.TrimPrefix(all, "\xEF\xBB\xBF")
	all = strings.ReplaceAll(strings.ReplaceAll(all, "\r\n", "\n"), "\r", "\n")
	lines := strings.Split(all, "\n")
	var name string
	var data []string
	for _, line := range lines[:len(lines)-1] {
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "":
			if data != nil {
				got = append(got, name+"|"+strings.Join(data, "\n"))
			}
			name, data = "", nil
		case field == "data":
			data = append(data, value)
		case field == "event":
			name = value
		}
	}
	return got
}

func FuzzParser(f *testing.F) {
	f.Add(stream200, uint16(3), uint16(100))
	f.Add("\xEF\xBB\xBFdata:a\r\n\r\rdata\r:x\n\n\r", uint16(1), uint16(2))
	f.Add("event:e\r\ndata: \r\n\r\n", uint16(9), uint16(10))
	f.Fuzz(func(t *testing.T, all string, a, b uint16) {
		i := min(int(a), len(all))
		j := i + min(int(b), len(all)-i)
		got, err := parse(all[:i], all[i:j], all[j:])
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(reference(all), got); d != "" {
			t.Errorf("%q cut at %d and %d: %s", all, i, j, d)
		}
	})
}

// What scan says about validity and text must be what encoding/json says.
func FuzzScan(f *testing.F) {
	for _, s := range []string{`{"choices":[{"delta":{"content":"a\u00e9\ud83d\ude00\n"}}],"n":[1,-0.5e+7,true,false,null]}`, `[1,]`, `{"a":}`, `"\x"`, `01`, `"\ud800"`, `{"error":{"code":1}}`, ` "a" x`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s := scan{b: b}
		s.skip()
		if got, want := s.finish(), json.Valid(b); got != want && strings.Count(string(b), "[")+strings.Count(string(b), "{") <= maxDepth {
			t.Fatalf("%q: valid %v, encoding/json says %v", b, got, want)
		}
		var fr frame
		fr.read(b)
		var text string
		if json.Unmarshal(b, &text) == nil && json.Valid(b) && len(b) > 1 && strings.TrimSpace(string(b))[0] == '"' && utf8.Valid(b) {
			s := scan{b: b}
			raw, ok := s.text()
			size, chars := textSize(raw)
			if !ok || size != len(text) || chars != utf8.RuneCountInString(text) {
				t.Fatalf("%q: %d bytes %d characters, want %d and %d", b, size, chars, len(text), utf8.RuneCountInString(text))
			}
		}
	})
}
