package decode

import (
	"fmt"
	"testing"
)

func parsed(t *testing.T, s string) *Value {
	t.Helper()
	v, err := Parse([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestAccess(t *testing.T) {
	v := parsed(t, `{"s":"a\"b","n":"None","d":"-","z":null,"i":12,"t":"12","f":12.0,"h":12.5,"big":9007199254740997,"edge":9223372036854775807,
		"over":1e400,"huge":1e17,"yes":true,"No":"False","in":"{\"a\":[1,{\"b\":\"c\"}]}","cut":"{\"a\":","plain":"abc","list":[{"x":"y"}],"MODEL":"no","model":"yes"}`)
	for path, want := range map[string]string{"s": `a"b`, "n": "", "d": "", "z": "", "i": "12", "f": "12.0", "yes": "true", "gone": "", "list": "",
		"model": "yes"} { // ING-26: the exact name
		if got := Text(v, path); got != want {
			t.Errorf("Text %s = %q, want %q", path, got, want)
		}
	}
	if got := Text(v, "list", "0", "x"); got != "y" {
		t.Errorf("path through a list: %q", got)
	}
	// ING-24: no integer goes through floating point; what is not whole is nothing.
	for path, want := range map[string]string{"i": "12", "t": "12", "f": "12", "h": "-", "big": "9007199254740997", "edge": "9223372036854775807",
		"over": "-", "huge": "-", "yes": "-", "z": "-", "gone": "-", "s": "-"} {
		got := "-"
		if n := Int(v, path); n != nil {
			got = fmt.Sprint(*n)
		}
		if got != want {
			t.Errorf("Int %s = %s, want %s", path, got, want)
		}
	}
	for path, want := range map[string]string{"yes": "true", "No": "false", "i": "-", "z": "-", "gone": "-", "s": "-"} {
		got := "-"
		if b := Bool(v, path); b != nil {
			got = fmt.Sprint(*b)
		}
		if got != want {
			t.Errorf("Bool %s = %s, want %s", path, got, want)
		}
	}
	if got := Text(Nested(v, "in"), "a", "1", "b"); got != "c" {
		t.Errorf("JSON inside a string: %q", got)
	}
	if Nested(v, "cut") != nil || Nested(v, "plain") != nil || Nested(v, "gone") != nil || Nested(v, "list") == nil {
		t.Error("cut text and plain text hold no JSON; a list is itself")
	}
	if !Has(v, "z") || Has(v, "gone") {
		t.Error("null is there, a missing key is not")
	}
}

// ING-25: depth is bounded, and one value too deep is an error, not a crash.
func TestParseDepth(t *testing.T) {
	deep := func(n int) []byte {
		b := make([]byte, 0, 2*n)
		for range n {
			b = append(b, '[')
		}
		for range n {
			b = append(b, ']')
		}
		return b
	}
	if _, err := Parse(deep(200)); err != nil {
		t.Error(err)
	}
	if _, err := Parse(deep(20000)); err == nil {
		t.Error("20000 levels must be refused")
	}
}

// A Pair gives what Get gives, whatever it was used for before.
func TestPair(t *testing.T) {
	pair, p := NewPair("key", "value"), &Parser{}
	for _, s := range []string{`[{"key":1,"value":2}]`, `[{"key":1,"value":2},{"value":3,"key":4},{"key":5,"value":6,"key":7},{"key":8},{"other":9,"key":10,"value":11},{},12,{"key":13,"key":14,"value":15}]`,
		`[{"key":1,"other":2},{"k\u0065y":3,"value":4},{"key" : 5 , "value" : 6}]`} {
		for range 3 {
			v, err := p.ParseBytes([]byte(s))
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range v.GetArray() {
				if a, b := pair.Of(x); a != x.Get("key") || b != x.Get("value") {
					t.Errorf("%s: %s and %s", x, a, b)
				}
			}
		}
	}
}
