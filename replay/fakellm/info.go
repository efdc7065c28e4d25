package fakellm

import (
	"fmt"
	"net/http"
)

// models lists Config.Models as OpenAI does.
func (s *Server) models(w http.ResponseWriter, _ *http.Request) {
	b := []byte(`{"object":"list","data":[`)
	for i, m := range s.cfg.Models {
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, `{"id":%s,"object":"model","created":%d,"owned_by":"fakellm"}`, quoted(m), s.start.Unix())
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(append(b, "]}"...))
}

// metrics are the engine's gauges and counters in Prometheus' text format.
func (s *Server) metrics(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	s.engine.advance(s.now())
	running, waiting := len(s.engine.running), len(s.engine.waiting)
	steps, totals := s.engine.steps, s.engine.totals
	s.mu.Unlock()
	var b []byte
	for _, m := range []struct {
		name, kind, help string
		value            int
	}{
		{"fakellm_requests_running", "gauge", "Requests in a slot.", running},
		{"fakellm_requests_waiting", "gauge", "Requests in the queue.", waiting},
		{"fakellm_steps_total", "counter", "Steps begun.", steps},
		{"fakellm_prompt_tokens_total", "counter", "Prompt tokens of admitted requests.", totals.prompt},
		{"fakellm_cached_tokens_total", "counter", "Prompt tokens found in the prefix cache.", totals.cached},
		{"fakellm_generation_tokens_total", "counter", "Output tokens made.", totals.output},
	} {
		b = fmt.Appendf(b, "# HELP %s %s\n# TYPE %s %s\n%s %d\n", m.name, m.help, m.name, m.kind, m.name, m.value)
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	w.Write(b)
}
