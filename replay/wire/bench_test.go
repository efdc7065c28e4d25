package wire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

const benchFrame = `{"id":"chatcmpl-o0HHL9BU1ww50ZaYgK6f4axUdY6sg2wL","object":"chat.completion.chunk","created":1795963440,"model":"demo-29m","choices":[{"index":0,"delta":{"content":" viterrigor"},"logprobs":null,"finish_reason":null,"token_ids":null}]}`

func BenchmarkFrame(b *testing.B) {
	data := []byte(benchFrame)
	b.Run("scan", func(b *testing.B) {
		b.ReportAllocs()
		var f frame
		for b.Loop() {
			f.read(data)
		}
	})
	b.Run("encoding_json", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var f struct {
				ID, Model string
				Choices   []struct {
					Index int
					Delta struct {
						Content          string
						ReasoningContent string `json:"reasoning_content"`
					}
					FinishReason *string `json:"finish_reason"`
				}
				Error json.RawMessage
			}
			if json.Unmarshal(data, &f) != nil {
				b.Fatal()
			}
		}
	})
}

// benchServer answers each request with 200 frames of benchFrame, each an HTTP chunk, a write for every ten.
func benchServer(b *testing.B) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { l.Close() })
	ten := []byte(strings.Repeat(chunked("data: "+benchFrame+"\n\n"), 10))
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				in := bufio.NewReader(c)
				for {
					r, err := http.ReadRequest(in)
					if err != nil {
						return
					}
					io.Copy(io.Discard, r.Body)
					io.WriteString(c, head)
					for range 20 {
						c.Write(ten)
					}
					io.WriteString(c, chunked(done(0).text)+"0\r\n\r\n")
				}
			}()
		}
	}()
	return "http://" + l.Addr().String()
}

// One request of 200 frames an operation; compare the two: what stamping, event rules and facts cost on top of net/http
// with a line reader that looks at nothing.
func BenchmarkStream(b *testing.B) {
	url := benchServer(b)
	b.Run("wire", func(b *testing.B) {
		c := NewClient(Options{})
		defer c.Close()
		b.ReportAllocs()
		for b.Loop() {
			if o := c.Do(b.Context(), &Call{URL: url, Body: []byte(body), Stream: true}); len(o.Chunks) != 200 || o.Class != ClassOK {
				b.Fatalf("%d chunks, %s %s", len(o.Chunks), o.Class, o.Reason)
			}
		}
	})
	b.Run("net_http", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			resp, err := http.Post(url, "application/json", strings.NewReader(body))
			if err != nil {
				b.Fatal(err)
			}
			n := 0
			lines := bufio.NewScanner(resp.Body)
			for lines.Scan() {
				if bytes.HasPrefix(lines.Bytes(), []byte("data: {")) {
					n++
				}
			}
			if resp.Body.Close(); n != 201 { // and the finish
				b.Fatal(n)
			}
		}
	})
}
