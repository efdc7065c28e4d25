package main

import (
	"bytes"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"reprise/ingest/decode"
)

// planted gives files of a format in which each text of its example, one after the other, holds the secret: values of
// JSON, also of JSON inside a text, cells of a table, words of a line, strings of a binary message. Records whose reading
// fails over it are wanted too: what is said of them must not tell it.
func planted(t *testing.T, f decode.Format, secret string) []byte {
	t.Helper()
	example := strings.TrimSpace(f.Example)
	switch {
	case f.Message != nil && f.JSON == nil && f.Group == nil:
		return plantBinary(t, example, secret)
	case f.CSV != nil && !strings.ContainsAny(example[:1], "{["):
		return plantTable(example, secret)
	case strings.Contains(strings.SplitN(example, "\n", 2)[0], "{") && strings.HasSuffix(example, "}") || example[0] == '[' || example[0] == '{':
		return plantJSON(t, example, secret)
	}
	return plantLines(example, secret)
}

func plantJSON(t *testing.T, example, secret string) []byte {
	t.Helper()
	start := strings.IndexAny(example, "{[")
	prefix := example[:start]
	if strings.Contains(prefix, "\n") {
		return plantLines(example, secret)
	}
	var out bytes.Buffer
	dec := json.NewDecoder(strings.NewReader(strings.ReplaceAll(example[start:], "\n"+prefix, "\n")))
	dec.UseNumber()
	for {
		var v any
		if err := dec.Decode(&v); err == io.EOF {
			return out.Bytes()
		} else if err != nil {
			return append(out.Bytes(), plantLines(example, secret)...) // text around the objects
		}
		for n := 0; ; n++ {
			left := n
			changed := plantValue(v, secret, &left)
			if left >= 0 {
				break
			}
			line, err := json.Marshal(changed)
			if err != nil {
				t.Fatal(err)
			}
			out.WriteString(prefix)
			out.Write(line)
			out.WriteByte('\n')
		}
		if o, ok := v.(map[string]any); ok { // where nobody looks for it
			o = maps.Clone(o)
			for _, key := range []string{"headers", "authorization", "api_key", "error", "error_message", "url", "messages", "prompt"} {
				if _, there := o[key]; !there {
					o[key] = secret
				}
			}
			line, _ := json.Marshal(o)
			out.WriteString(prefix + string(line) + "\n" + prefix + string(line[:len(line)-1]) + "\n")
		}
	}
}

// plantValue returns v with the secret in place of text number left; left is negative behind it.
func plantValue(v any, secret string, left *int) any {
	switch v := v.(type) {
	case string:
		if *left--; *left < 0 {
			if *left == -1 {
				return secret
			}
			return v
		}
		var inner any
		if strings.ContainsAny(v, "{[") && json.Unmarshal([]byte(v), &inner) == nil {
			if changed := plantValue(inner, secret, left); *left < 0 {
				text, _ := json.Marshal(changed)
				return string(text)
			}
		}
	case []any:
		list := slices.Clone(v)
		for i := range list {
			if *left >= 0 {
				list[i] = plantValue(list[i], secret, left)
			}
		}
		return list
	case map[string]any:
		o := maps.Clone(v)
		for _, k := range slices.Sorted(maps.Keys(o)) {
			if *left >= 0 {
				o[k] = plantValue(o[k], secret, left)
			}
		}
		return o
	}
	return v
}

func plantTable(example, secret string) []byte {
	r := csv.NewReader(strings.NewReader(example))
	r.FieldsPerRecord = -1
	switch first, _, _ := strings.Cut(example, "\n"); {
	case strings.Count(first, "\t") > strings.Count(first, ","):
		r.Comma = '\t'
	case strings.Count(first, ";") > strings.Count(first, ","):
		r.Comma = ';'
	}
	rows, err := r.ReadAll()
	if err != nil { // no table, but lines of text
		return plantLines(example, secret)
	}
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	w.Comma = r.Comma
	w.Write(rows[0])
	for _, row := range rows[1:] {
		for i := range row {
			changed := slices.Clone(row)
			changed[i] = secret
			w.Write(changed)
		}
		w.Write(append(slices.Clone(row), secret))
	}
	w.Flush()
	return out.Bytes()
}

// plantLines puts the secret in place of each word and behind it; one of several words between quotes, where such stand.
func plantLines(example, secret string) []byte {
	var out bytes.Buffer
	lines := strings.Split(example, "\n")
	apart := " "
	if strings.Contains(secret, " ") {
		apart = `"`
	}
	for at, line := range lines {
		words := strings.Split(line, apart)
		for i := range words {
			for _, word := range []string{secret, words[i] + "=" + secret} {
				if apart == `"` && i%2 == 0 {
					continue
				}
				changed := slices.Clone(words)
				changed[i] = word
				all := slices.Clone(lines)
				all[at] = strings.Join(changed, apart)
				out.WriteString(strings.Join(all, "\n") + "\n")
			}
		}
	}
	return out.Bytes()
}

// plantBinary writes the secret over every text that is as long.
func plantBinary(t *testing.T, example, secret string) []byte {
	t.Helper()
	b, err := hex.DecodeString(example)
	if err != nil {
		t.Fatal(err)
	}
	for i, run := 0, 0; i < len(b); i++ {
		if run++; b[i] < ' ' || b[i] > '~' {
			run = 0
		}
		if run == len(secret) {
			copy(b[i+1-run:], secret)
			run = 0
		}
	}
	return b
}
