package otel

import "strings"

// Reasons why a span is no row.
const (
	notLLM        = "not_llm_span"
	toolSpan      = "tool_span"
	agentSpan     = "agent_span"
	duplicateView = "duplicate_view"
	healthCheck   = "health_check"
)

// convention is what a set of attribute names brings beside its table of aliases.
type convention struct {
	judge  func(*span) (reason string, known bool) // known: this convention can tell; reason "": a call
	refine func(*build)
}

// conventions in the order they are asked: the more particular before the more general.
var conventions = []convention{
	{judgeLiteLLM, refineLiteLLM},
	{judgeVercel, refineVercel},
	{judgeOpenInference, refineOpenInference},
	{judgeLangfuse, refineLangfuse},
	{judgeEngine, refineEngine},
	{judgeTGI, refineTGI},
	{judgeSemconv, refineSemconv},
	{judgeOpenLLMetry, refineOpenLLMetry},
}

// judge returns "" for a span that is one call to a model, else why it is not.
func judge(s *span) string {
	for _, c := range conventions {
		if reason, known := c.judge(s); known {
			return reason
		}
	}
	if probe(firstOf(s.attrs.text("http.route"), s.attrs.text("url.path"), s.attrs.text("http.target"))) {
		return healthCheck
	}
	return notLLM
}

// probe knows the paths that load balancers and scrapers ask.
func probe(path string) bool {
	path, _, _ = strings.Cut(path, "?")
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	switch first {
	case "health", "healthz", "livez", "readyz", "ready", "live", "ping", "metrics":
		return true
	}
	return false
}
