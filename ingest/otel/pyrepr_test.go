package otel

import (
	"encoding/json"
	"strings"
	"testing"
)

// The texts are what Python 3.11 printed for the value on the right, written by json.dumps.
var pythonTexts = map[string]string{
	`{'request_id': 'r00000', 'tags': ['app:chat', 'tenant:cobalt']}`: `{"request_id":"r00000","tags":["app:chat","tenant:cobalt"]}`,
	`{'n': None, 't': True, 'f': False, 'x': -1.5e-07, 'i': 12}`:      `{"n":null,"t":true,"f":false,"x":-1.5e-07,"i":12}`,
	`"it's"`:                    `"it's"`,
	`'say "hi"'`:                `"say \"hi\""`,
	`'both \' and "'`:           `"both ' and \""`,
	`'tab\tnew\nback\\'`:        `"tab\tnew\nback\\"`,
	`'nul\x00bell\x07\x85'`:     `"nul\u0000bell\u0007\u0085"`,
	`'café \u2028 \U0001f4a9é'`: `"café \u2028 \ud83d\udca9é"`,
	`(1, 'a')`:                  `[1,"a"]`,
	`(1,)`:                      `[1]`,
	`()`:                        `[]`,
	`{1, 2}`:                    `[1,2]`,
	`{1: 'a', (1, 2): 'b'}`:     `{"1":"a","[1,2]":"b"}`,
	`b'ab\xff'`:                 `"abÿ"`,
	`{}`:                        `{}`,
	`[[], [{}]]`:                `[[],[{}]]`,
	`Usage(completion_tokens=27, prompt_tokens_details=Details(cached_tokens=None, text='a=b'))`: `{"completion_tokens":27,"prompt_tokens_details":{"cached_tokens":null,"text":"a=b"}}`,
	`{'o': <object object at 0x7f1>, 'd': datetime.datetime(2026, 1, 2)}`:                        `{"o":null,"d":{}}`,
}

func TestPython(t *testing.T) {
	for text, want := range pythonTexts {
		got, err := appendPython(nil, text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var a, b any
		if err := json.Unmarshal(got, &a); err != nil {
			t.Errorf("%s: %s is no JSON: %v", text, got, err)
		}
		if err := json.Unmarshal([]byte(want), &b); err != nil {
			t.Fatal(err)
		}
		x, _ := json.Marshal(a)
		y, _ := json.Marshal(b)
		if string(x) != string(y) {
			t.Errorf("%s: %s, want %s", text, x, y)
		}
	}
}

func TestNoPython(t *testing.T) {
	for _, text := range []string{"", "{", "{'a': 1", "{'a' 1}", "'open", "[1 2]", "hello world", "1_000", "1j", "{'a': 1}}", "lambda: 1", "<open", "[1,,2]", ".5", "--1",
		strings.Repeat("[", 1000) + strings.Repeat("]", 1000), "'" + strings.Repeat("x", maxLiteral) + "'"} {
		if got, err := appendPython(nil, text); err == nil {
			t.Errorf("%.40q: got %.40s, want an error", text, got)
		}
	}
}
