package decode

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/valyala/fastjson"
)

// same compares a value with the oracle's, deeply.
func same(t *testing.T, path string, got *Value, want *fastjson.Value) {
	t.Helper()
	if got.Type().String() != want.Type().String() {
		t.Fatalf("%s: got %s, want %s", path, got.Type(), want.Type())
	}
	switch got.Type() {
	case TypeString:
		var w string // fastjson keeps a lone surrogate as it is written
		if err := json.Unmarshal(got.Raw(), &w); utf8.Valid(got.Raw()) && (err != nil || string(got.GetStringBytes()) != w) {
			t.Fatalf("%s: got %q, want %q, %v", path, got.GetStringBytes(), w, err)
		}
	case TypeNumber:
		if string(got.Raw()) != want.String() {
			t.Fatalf("%s: got %s, want %s", path, got.Raw(), want)
		}
	case TypeArray:
		a := want.GetArray()
		g := got.GetArray()
		if len(a) != len(g) {
			t.Fatalf("%s: got %d elements, want %d", path, len(g), len(a))
		}
		for i := range a {
			same(t, path+"[]", g[i], a[i])
		}
	case TypeObject:
		n := 0
		var values []*fastjson.Value
		var keys []string
		want.GetObject().Visit(func(k []byte, v *fastjson.Value) { keys, values = append(keys, string(k)), append(values, v) })
		got.Visit(func(k []byte, v *Value) {
			var w string // as for strings: fastjson's keys tell how many there are
			raw := slices.Concat([]byte{'"'}, v.doc.src[v.key:v.keyTo], []byte{'"'})
			if err := json.Unmarshal(raw, &w); n >= len(keys) || utf8.Valid(raw) && (err != nil || string(k) != w) || !utf8.Valid(raw) && string(k) != keys[n] {
				t.Fatalf("%s: member %d is %q, want %q of %q, %v", path, n, k, w, keys, err)
			}
			same(t, path+"."+keys[n], v, values[n])
			n++
		})
		if n != len(keys) {
			t.Fatalf("%s: got %d members, want %d", path, n, len(keys))
		}
	}
}

func FuzzValue(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":[1,-2.5e3,true,false,null,"x\"y\\"]}`, ` [ {"k\u0041" : "\ud83d\ude00 \u00e9 \/ \b\f\n\r\t"} , [] ] `,
		`{"a":{"b":{"c":1}}}`, `"\\"`, `{"a":1}}`, `{"a":1,}`, `[1 2]`, `{"a"`, `"abc`, `nul`, `-`, `{"a":"\ud83d"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := Parse(b)
		valid := json.Valid(b)
		if valid && err != nil && !strings.Contains(err.Error(), "nested deeper") {
			t.Fatalf("refused %q: %v", b, err)
		}
		if err != nil || !valid {
			return
		}
		want, ferr := fastjson.ParseBytes(b)
		if ferr != nil {
			return // the oracle's own limit
		}
		same(t, "", got, want)
		again, err := Parse(got.MarshalTo(nil))
		if err != nil {
			t.Fatalf("what MarshalTo wrote does not parse: %v", err)
		}
		same(t, "", again, want)
	})
}

// alike compares two values of the same text, deeply: kinds, places in the text, keys.
func alike(a, b *Value) bool {
	if a.Type() != b.Type() || a.from != b.from || a.to != b.to || a.key != b.key || a.keyTo != b.keyTo || a.next-a.self != b.next-b.self {
		return false
	}
	if a.Type() != TypeArray && a.Type() != TypeObject {
		return true
	}
	x, y := a.first(), b.first()
	for ; x != nil && y != nil; x, y = a.after(x), b.after(y) {
		if !alike(x, y) {
			return false
		}
	}
	return x == nil && y == nil && a.doc.escapedKey == b.doc.escapedKey
}

// FuzzPlaces: what a parser has learnt from other records changes nothing but the time.
func FuzzPlaces(f *testing.F) {
	for _, s := range [][2]string{{`{"a":1, "b":2}`, `{"a":1"b":2}`}, {`{"a":{"b":[{"c":1},{"c":2,"d":3}]}}`, `{"a":[{"b":{"c":1}}],"d":3}`},
		{`{"a":1,"b":2,"c":3}`, `{"a":1,"c":3,"b":2}`}, {`{"\u0061":1,"b":{}}`, `{"b":{"\u0061":1}}`}, {`[{"a":1},{"b":1}]`, `[{"b":1}{"a":1}]`},
		{"{\n \"a\" : 1 ,\n \"b\" : 2 }", `{"a" : 1 ,"b":2`}, {`{"a":"x"}`, `{"a":`},
		{`{"a":1}`, `{"a": 1}`}, {`{"a":1}`, `["a":1]`}, {`{"a":1,"b":{"c":[1,{"d":2}]},"e":3}`, `{"a":1,"b":{"c":[1,{"d":2}]},"e":34}`},
		{`{"x":1,"b":[1,{"c":2}],"c":3}`, `{"x":100,"b":[1,{"c":2}],"c":3}`}, {`{"a":1,"b":null, "c":12}`, `{"a":1,"b":null, "c":12.5}`}, {`{"a":[{"b":1,"c":2},{"b":1,"c":2}]}`, `{"a":[{"b":1,"c":2}{"b":1,"c":2}]}`},
		{`{"a":1,"b":{"c":"x","d":[1,"x",{"e":1}]},"f":null}`, `{"a":1,"b":{"c":"x","d":[1,"x"]},"f":null}`}, {`{"a":{"b":1}}`, `{"a":{"b":{"c":1}}}`},
		{`{"a":[{"k":"x","v":{"s":"y"}},{"k":"z","v":{"i":"1"}}],"b":[{"k":"x","v":{"s":1}}]}`, `{"a":[{"k":"z","v":{"i":12}}, {"k":"x","v":{"s":[1]}},{"k":"x","v":{"s":"y" }}]}`},
		{`[[{"k":"x","v":1},{"k":"y","v":1}],[{"k":"y","v":1},{"k":"x","v":1},{"k":"x"}]]`, `[[{"k":"x","v":1}{"k":"y","v":1}]]`}, {`[{"k":"x","v":1},{"k":"y","v":1}]`, `[{"k":"x","v":1},]`},
		{`[{"\u0061":1,"b":1},{"b":1,"a":"x"}]`, `[{"b":1,"a":"x"},{"b":1,"a":"x"`}, {`[{"a":{"b":{"c":1}},"d":{}},{"a":[1]}]`, `[{"a":{"b":{"c":1},"d":{}}},{"a":[1}]`},
		{`{"a":1,"b":2,"c":{"d":1,"e":[]},"f":1}`, `{"a":1,"b":3,"c":{"d":null,"e":[]},"f":1, "g":1}`}, {`{"m":[{"r":"x","c":"1"},{"r":"x1","c":"11"}],"e":{}}`, `{"m":[{"r":"x","c":"1"}],"e":{}}`}} {
		f.Add([]byte(s[0]), []byte(s[1]))
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		inTurn := slices.Repeat([][]byte{a, b}, observed) // what both have becomes stretches,
		always := slices.Repeat([][]byte{a}, observed+2)  // and here all of a,
		other := otherwise(a)                             // and here all but the values
		holes := slices.Repeat([][]byte{a, other}, observed)
		for _, texts := range [][][]byte{{a, a, b, a, b, b, a}, append(always, b, a, b, b, a), append(inTurn, a, a, b, b), append(holes, a, b, other, b, otherwise(b), a, other)} {
			var p Parser
			for i, text := range texts {
				alone(t, &p, i, text)
			}
		}
	})
}

// otherwise gives most texts of the same form other values.
func otherwise(b []byte) []byte {
	return []byte(strings.NewReplacer("1", "27", "x", `y\"z`, "null", "true").Replace(string(b)))
}

// alone holds what p reads against what a parser of its own reads.
func alone(t *testing.T, p *Parser, i int, text []byte) {
	got, err := p.ParseBytes(text)
	want, wantErr := Parse(text)
	switch {
	case (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error():
		t.Fatalf("%q, time %d: %v; alone: %v", text, i, err, wantErr)
	case err == nil && !alike(got, want):
		t.Fatalf("%q, time %d: read as %s", text, i, got)
	case err == nil:
		members(t, got, want)
	}
}

var someKeys, otherKeys = NewKeys("a", "b", "c", "d"), NewKeys("d", "x", "b", "")

// members holds Members against Get on the root and on what is in it, with two lists of keys in turn.
func members(t *testing.T, got, want *Value) {
	for _, k := range []*Keys{someKeys, someKeys, otherKeys} {
		var m [4]*Value
		got.Members(k, &m[0], &m[1], &m[2], &m[3])
		for key, i := range k.index {
			var w *Value
			if want.Type() == TypeObject {
				w = want.Get(key)
			}
			if (m[i] == nil) != (w == nil) || m[i].String() != w.String() {
				t.Fatalf("member %q of %s: %s, want %s", key, got, m[i], w)
			}
			if m[i] != nil {
				members(t, m[i], w)
			}
		}
	}
}

// Keys without end must not fill the memory, and are still found.
func TestPlacesAreBounded(t *testing.T) {
	var p Parser
	for i := range 3 * maxPlaces {
		v, err := p.ParseBytes(fmt.Appendf(nil, `{"id":1,"%d":{"x":2},"list":[{"%d":3}],"last":%d}`, i, i, i))
		if err != nil {
			t.Fatal(err)
		}
		if n, x := Int(v, "last"), Int(v, "list", "0", fmt.Sprint(i)); n == nil || *n != int64(i) || x == nil || *x != 3 {
			t.Fatalf("record %d: %s", i, v)
		}
	}
	if p.doc.places > maxPlaces || len(p.doc.record.known.inside) > maxInside {
		t.Errorf("%d places, %d in the record", p.doc.places, len(p.doc.record.known.inside))
	}
}

// Elements without end are given up, and are still found.
func TestElementsAreBounded(t *testing.T) {
	var p Parser
	for i := range 3 * maxMissed {
		v, err := p.ParseBytes(fmt.Appendf(nil, `[{"k":"same","v":{"n":%d}},{"k":"%d","v":{"n":1}}]`, i, i))
		if err != nil {
			t.Fatal(err)
		}
		if n, k := Int(v, "0", "v", "n"), Text(v, "1", "k"); n == nil || *n != int64(i) || k != fmt.Sprint(i) || Text(v, "0", "k") != "same" {
			t.Fatalf("record %d: %s", i, v)
		}
	}
	if e := p.doc.record.known.element.known.elements; len(e.known) > maxElements {
		t.Errorf("%d elements", len(e.known))
	}
}

// Attributes in another order and with other values are read as known elements, not one by one.
func TestElementsAreKnown(t *testing.T) {
	var p Parser
	for _, s := range []string{`[]`, `[{"k":"a","v":{"s":"x"}},{"k":"b","v":{"s":"y"}},{"k":"c","v":{"s":1}}]`, `[{"k":"b","v":{"s":"y"}},{"k":"a","v":{"s":"y"}},{"k":"c","v":{"s":1}}]`,
		`[{"k":"a","v":{"s":"z"}},{"k":"c","v":{"s":2}},{"k":"b","v":{"s":null}}]`, `[{"k":"a","v":{"s":true}},{"k":"b","v":{"s":"long text with a \\ in it, of more than forty bytes"}},{"k":"c","v":{"s":-1.5e3}}]`} {
		v, err := p.ParseBytes([]byte(s))
		if err != nil || v.String() != s {
			t.Fatalf("%s: %s, %v", s, v, err)
		}
	}
	for v := p.doc.nodes[0].first(); v != nil; v = p.doc.nodes[0].after(v) {
		if v.like == nil {
			t.Errorf("%s was read one by one", v)
		}
	}
}

func TestParseRefuses(t *testing.T) { // ING-20: nothing behind the closing brace; ING-25: bounded nesting
	for _, s := range []string{``, ` `, `{"a":1} x`, `{"a":1}}`, `{"a":1,}`, `{"a" 1}`, `{a:1}`, `[1,]`, `[1`, `{"a":"b`, `"\"`, `tru`, `-`, `+1`,
		strings.Repeat("[", 400) + strings.Repeat("]", 400), strings.Repeat(`{"a":`, 20000)} {
		if v, err := Parse([]byte(s)); err == nil {
			t.Errorf("%.30q was accepted as %s", s, v.Type())
		}
	}
}

func TestGet(t *testing.T) {
	v, err := Parse([]byte(`{"model":"right","MODEL":"wrong","model":"second","n":{"list":[10,{"x":"y"}]},"esc\u0061pe":"e"}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path []string
		want string
	}{
		{[]string{"model"}, "right"}, // ING-26: the exact name, the first of two
		{[]string{"n", "list", "0"}, "10"}, {[]string{"n", "list", "1", "x"}, "y"}, {[]string{"escape"}, "e"},
		{[]string{"none"}, ""}, {[]string{"n", "list", "7"}, ""}, {[]string{"model", "deeper"}, ""}, {[]string{"n", "list", "x"}, ""},
	} {
		if got := Text(v, c.path...); got != c.want {
			t.Errorf("%v: got %q, want %q", c.path, got, c.want)
		}
	}
	if v.Get("none").Get("x").Type() != 0 || v.Get("none").GetArray() != nil || v.Get("none").Exists("y") {
		t.Error("nothing below nothing")
	}
}

func TestIntKeeps64Bits(t *testing.T) { // ING-24
	v, _ := Parse([]byte(`{"a":9007199254740997,"b":"9007199254740996","c":12.0,"d":1.5,"e":"","f":null,"g":1e3}`))
	for key, want := range map[string]int64{"a": 9007199254740997, "b": 9007199254740996, "c": 12, "g": 1000} {
		if n := Int(v, key); n == nil || *n != want {
			t.Errorf("%s: got %v, want %d", key, n, want)
		}
	}
	for _, key := range []string{"d", "e", "f", "none"} {
		if n := Int(v, key); n != nil {
			t.Errorf("%s: got %d, want nothing", key, *n)
		}
	}
}

// BenchmarkParse sets our reader beside its oracle on a record that is mostly message text.
func BenchmarkParse(b *testing.B) {
	text := strings.Repeat("some words of a message, ", 100) + `said \"ok\"\nnext line`
	line := []byte(`{"id":"x","startTime":1.5,"messages":[{"role":"system","content":"` + text + `"},{"role":"user","content":"` + text + `"}],"metadata":{"a":1,"b":null}}`)
	b.Run("ours", func(b *testing.B) {
		var p Parser
		b.SetBytes(int64(len(line)))
		for b.Loop() {
			p.ParseBytes(line)
		}
	})
	b.Run("fastjson", func(b *testing.B) {
		var p fastjson.Parser
		b.SetBytes(int64(len(line)))
		for b.Loop() {
			p.ParseBytes(line)
		}
	})
}
