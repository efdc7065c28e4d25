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

// metrics are the engine's gauges and counters in Prometheus' text format: under names of our own, and under vLLM's with
// the same meaning, so that what reads a vLLM server's page can be tried on this one. The model never preempts.
func (s *Server) metrics(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	s.engine.advance(s.now())
	running, waiting := len(s.engine.running), len(s.engine.waiting)
	steps, totals, blocks := s.engine.steps, s.engine.totals, s.engine.cache.recent.Len()
	s.mu.Unlock()
	page := page{labels: `{engine="0",model_name=` + quoted(s.cfg.Models[0]) + `}`}
	page.add(metric{"fakellm_requests_running", "vllm:num_requests_running", "gauge", "Requests in a slot."}, running)
	page.add(metric{"fakellm_requests_waiting", "vllm:num_requests_waiting", "gauge", "Requests in the queue."}, waiting)
	page.add(metric{"fakellm_steps_total", "", "counter", "Steps begun."}, steps)
	page.add(metric{"fakellm_prompt_tokens_total", "vllm:prompt_tokens_total", "counter", "Prompt tokens of admitted requests."}, totals.prompt)
	page.add(metric{"", "vllm:prefix_cache_queries_total", "counter", "Prompt tokens looked up in the prefix cache."}, totals.prompt)
	page.add(metric{"fakellm_cached_tokens_total", "vllm:prefix_cache_hits_total", "counter", "Prompt tokens found in the prefix cache."}, totals.cached)
	page.add(metric{"fakellm_generation_tokens_total", "vllm:generation_tokens_total", "counter", "Output tokens made."}, totals.output)
	page.add(metric{"fakellm_cache_blocks", "", "gauge", "Blocks in the prefix cache."}, blocks)
	page.add(metric{"", "vllm:num_preemptions_total", "counter", "Requests put back into the queue."}, 0)
	if limit := s.cfg.CacheBlocks; limit > 0 {
		page.add(metric{"", "vllm:kv_cache_usage_perc", "gauge", "Blocks in the prefix cache, of those that it can hold."}, float64(blocks)/float64(limit))
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	w.Write(page.text)
}

// page is a metrics page that is being written.
type page struct {
	text   []byte
	labels string // of vLLM's names
}

// metric has a name of our own and one of vLLM's, "" for none.
type metric struct{ own, vllm, kind, help string }

// add writes a metric under its names.
func (p *page) add(m metric, value any) {
	for _, n := range [][2]string{{m.own, ""}, {m.vllm, p.labels}} {
		if name := n[0]; name != "" {
			p.text = fmt.Appendf(p.text, "# HELP %s %s\n# TYPE %s %s\n%s%s %v\n", name, m.help, name, m.kind, name, n[1], value)
		}
	}
}
