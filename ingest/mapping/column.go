package mapping

import (
	"reflect"
	"slices"
	"strings"

	"reprise/ingest/trace"
)

// kind is how a column is filled.
type kind int

const (
	kindText kind = iota
	kindInt
	kindBool
	kindDuration // microseconds from arrival
	kindArrival
	kindClass
	kindEndpoint
	kindFinish
	kindStatus
	kindUser
	kindKey
)

// field is one field of trace.Request under its Parquet name.
type field struct {
	name  string
	index int
	typ   reflect.Type
	kind  kind
	words []string // the allowed texts; nil for any
}

// fields are the columns a mapping may fill: all but lists, provenance and what only a replay knows.
func fields() []field {
	t := reflect.TypeFor[trace.Request]()
	var list []field
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("parquet"), ",")
		if t.Field(i).Type.Kind() == reflect.Slice || strings.HasPrefix(name, "source_") || slices.Contains(notMapped, name) {
			continue
		}
		list = append(list, field{name, i, t.Field(i).Type, kindOf(name, t.Field(i).Type), trace.Words(name)})
	}
	return list
}

var notMapped = []string{"quality", "send_lag_us", "prefix_block_tokens", "system_prompt_hash", "vantage"}

func kindOf(name string, t reflect.Type) kind {
	switch name {
	case "arrival":
		return kindArrival
	case "error_class":
		return kindClass
	case "endpoint_kind":
		return kindEndpoint
	case "finish_reason":
		return kindFinish
	case "http_status":
		return kindStatus
	case "user_hash":
		return kindUser
	case "key_hash":
		return kindKey
	}
	switch {
	case t == reflect.TypeFor[*bool]():
		return kindBool
	case t.Kind() == reflect.String:
		return kindText
	case strings.HasSuffix(name, "_us") && name != "time_precision_us":
		return kindDuration
	}
	return kindInt
}

// endpoint reads the path of a URL, a request line ("POST /v1/messages HTTP/1.1"), or the name of an operation: the kind
// of call, "" when the name does not tell, and whether it is a call of a model at all.
func endpoint(s string) (kind string, model bool) {
	if words := strings.Fields(s); len(words) == 3 {
		s = words[1]
	}
	s, _, _ = strings.Cut(s, "?")
	if s = strings.TrimSuffix(strings.ToLower(s), "/"); strings.Contains(s, "/threads/") { // stored messages of the Assistants API
		return "", false
	}
	for _, e := range []struct{ end, kind string }{
		{"chat/completions", "chat"}, {"completions", "completions"}, {"responses", "responses"}, {"messages", "messages"},
		{"embeddings", "embeddings"}, {"rerank", "rerank"}, {"/api/chat", "chat"}, {"/api/generate", "completions"}, {"/api/embed", "embeddings"},
		{":generatecontent", "chat"}, {":streamgeneratecontent", "chat"}, {"/converse", "chat"}, {"/converse-stream", "chat"},
		{"/generate", "completions"}, {"/generate_stream", "completions"}, {"/completion", "completions"}, {"/v1/complete", "completions"},
		{":rawpredict", ""}, {":streamrawpredict", ""}, {"/invocations", ""}, {"/inference", ""}, {"/invoke", ""}, {"/invoke-with-response-stream", ""}} {
		if strings.HasSuffix(s, e.end) {
			return e.kind, true
		}
	}
	return "", false
}
