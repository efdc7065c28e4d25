package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// said is what a client says of a request; times are nanoseconds since 1970, 0 unknown.
type said struct {
	ID    string
	Due   int64 // when it was to leave
	Sent  int64 // when it began
	Chunk []int64
	OK    bool
}

// plain is the client that everybody writes: net/http, time.Sleep until a request is due, a goroutine for each, chunks stamped when
// their line was read. It is what reprise has to be better than.
func plain(url string, l load, out io.Writer) error {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 4096}}
	all := make([]said, len(l.Due))
	var wait sync.WaitGroup
	start := time.Now().Add(100 * ms)
	for i, due := range l.Due {
		body, err := json.Marshal(map[string]any{"model": model, "stream": true, "max_tokens": l.Tokens, "ignore_eos": true,
			"messages": []map[string]string{{"role": "user", "content": strings.TrimSpace(strings.Repeat("word ", inputTokens))}}})
		if err != nil {
			return err
		}
		at := start.Add(due)
		time.Sleep(time.Until(at))
		wait.Go(func() {
			all[i] = ask(client, url, l.id(i), body)
			all[i].Due = at.UnixNano()
		})
	}
	wait.Wait()
	return json.NewEncoder(out).Encode(all)
}

func ask(client *http.Client, url, id string, body []byte) said {
	s := said{ID: id, Sent: time.Now().UnixNano()}
	r, err := http.NewRequest(http.MethodPost, url+"/v1/chat/completions", bytes.NewReader(body))
	if err != nil {
		return s
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Request-Id", id)
	answer, err := client.Do(r)
	if err != nil {
		return s
	}
	defer answer.Body.Close()
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		now := time.Now().UnixNano()
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: "))
		if !ok {
			continue
		}
		if string(data) == "[DONE]" {
			s.OK = true
			continue
		}
		var event struct {
			Choices []struct{ Delta struct{ Content string } }
		}
		if json.Unmarshal(data, &event) == nil && len(event.Choices) > 0 && event.Choices[0].Delta.Content != "" {
			s.Chunk = append(s.Chunk, now)
		}
	}
	return s
}
