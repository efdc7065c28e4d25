package decode

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
)

// FuzzValid holds valid against encoding/json.
func FuzzValid(f *testing.F) {
	for _, s := range []string{`{"a":[1,-0.5e+7,"x\u00e9\n"],"b":{}}`, `"\ud800"`, "\"\t\"", "[1\n]", "01", "1.", "-", "1e", `{"a":1,}`, "[", "\"\x7f\xff\"", "", " null ", "nul"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if got, want := valid(b), json.Valid(b); got != want && len(b) < 300 { // of deeper nesting both have bounds of their own
			t.Errorf("%q: %v, want %v", b, got, want)
		}
	})
}

// TestValid changes a text at random in one to three places.
func TestValid(t *testing.T) {
	const text, bytes = `{"a":[1,-0.5e+7,"x\u00e9\n\"",true,false,null,[]],"b":{"":{}},"c":10.25E-3}`, "\x00\t\n \x1f\\\"{}[],:.eE+-0129uabtfnxl\x80\xff"
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		b := []byte(text)
		for range 1 + rng.IntN(3) {
			b[rng.IntN(len(b))] = bytes[rng.IntN(len(bytes))]
		}
		if got, want := valid(b), json.Valid(b); got != want {
			t.Fatalf("%q: %v, want %v", b, got, want)
		}
	}
}
