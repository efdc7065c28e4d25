package gateway

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// SpendLogs is the LiteLLM_SpendLogs table: JSON from the API (/spend/logs) or Pub/Sub, or CSV from the database.
func SpendLogs() decode.Format {
	return decode.Format{Name: "litellm-spendlogs", Title: "LiteLLM SpendLogs rows (JSON or CSV)", About: aboutSpendLogs,
		Units: unitsSpendLogs, Defects: defectsSpendLogs, Example: exampleSpendLogs,
		Detect: detectSpendLogs, JSON: spendJSON, CSV: spendCSV}
}

const (
	unitsSpendLogs   = `startTime, completionStartTime, endTime: text to the millisecond; without a zone UTC since February 2025, local before`
	defectsSpendLogs = `completionStartTime defaults to the end; cache hits keep a row with spend 0; JSON inside strings; cache_hit is the text
"True", "False" or "None"; naive local times before BerriAI/litellm#8190`
	exampleSpendLogs = `{"request_id":"chatcmpl-1","call_type":"acompletion","api_key":"88dc28","spend":0.001,"prompt_tokens":900,"completion_tokens":100,"startTime":"2026-08-05T16:30:36.080Z","endTime":"2026-08-05T16:30:38.080Z","completionStartTime":"2026-08-05T16:30:36.580Z","model":"m","metadata":"{}","request_tags":"[]","cache_key":"Cache OFF"}`
)

const aboutSpendLogs = `Rows of the table LiteLLM_SpendLogs: from the API or Pub/Sub as JSON, from the database as CSV with a header.
Can contain: start, first chunk, end, tokens (cached and reasoning ones in metadata), cache hits, model, team, user,
session, tags; prompts only where the operator stores them. Cannot: chunk times, queueing, what the client saw.

times          text; without a zone they are UTC since February 2025 and local time before (--assume-tz). The database
               keeps milliseconds: time_precision_us says so.
first_us       completionStartTime. LiteLLM fills it with the end where it saw no first chunk, and there is no column
               for streaming: equal stamps say nothing, a stamp before the end says streamed. One that is really the
               end (seen 1 ms before it) is dropped (ttft_equals_end).
cached_response cache_hit; such rows also have "_cache_hit<time>" behind their request_id.
error_class    status, or metadata.status, and metadata.error_information. Without a status: unknown.
request_id     the answer's id on success (chatcmpl-...), LiteLLM's call id on failure.
session_id     LiteLLM gives a call without a session one of its own: sessions of one call are common.
replica, tenant, tokens, finish_reason: as in the format litellm. Rows of files, batches and tools are skipped.
`

// always are the columns that every such table has.
var always = []string{"request_id", "spend", "call_type", "startTime"}

func detectSpendLogs(s *decode.Sample) int {
	signs := func(has func(string) bool) int {
		n := 0
		for _, key := range always {
			if !has(key) {
				return 0
			}
			n++
		}
		for _, key := range []string{"cache_key", "request_tags", "completionStartTime"} {
			if has(key) {
				n++
			}
		}
		return n
	}
	best := signs(func(key string) bool { return slices.Contains(s.Header, key) })
	for _, v := range s.Records {
		best = max(best, signs(func(key string) bool { return decode.Has(v, key) }))
	}
	return best
}

// spendRow is one row, whatever its container: text gives a column ("" for none), object a column that holds JSON.
type spendRow struct {
	text   func(column string) string
	object func(column string) *decode.Value
}

func spendJSON(c *decode.Context, v *decode.Value) error {
	return spend(c, spendRow{func(column string) string { return decode.Text(v, column) },
		func(column string) *decode.Value { return decode.Nested(v, column) }})
}

func spendCSV(header []string) (func(*decode.Context, []string) error, error) {
	index := map[string]int{}
	for i, name := range header {
		index[name] = i
	}
	for _, name := range append([]string{"endTime"}, always...) {
		if _, ok := index[name]; !ok {
			return nil, fmt.Errorf("expected a column %q, got %q", name, header)
		}
	}
	return func(c *decode.Context, row []string) error {
		text := func(column string) string {
			if i, ok := index[column]; ok && i < len(row) && row[i] != "None" && row[i] != "null" {
				return row[i]
			}
			return ""
		}
		return spend(c, spendRow{text, func(column string) *decode.Value {
			v, err := decode.Parse([]byte(text(column)))
			if err != nil {
				return nil // no JSON in this column
			}
			return v
		}})
	}, nil
}

func spend(c *decode.Context, row spendRow) error {
	meta, request := readMetadata(row.object("metadata")), readParams(row.object("proxy_server_request"))
	r := c.New("litellm-spendlogs", trace.Gateway)
	if reason := skip(r, &meta, row.text("call_type")); reason != "" {
		c.Skip(reason)
		return nil
	}
	if row.text("mcp_namespaced_tool_name") != "" {
		c.Skip("not_a_model_call")
		return nil
	}
	first, err := stamps(c, r, row.text("startTime"), row.text("endTime"), row.text("completionStartTime"))
	if err != nil {
		return err
	}
	if r.EndUS == nil {
		if d, err := decode.Micros(row.text("request_duration_ms"), time.Millisecond); err == nil {
			r.EndUS = &d
		}
	}
	status := firstOf(row.text("status"), decode.Text(meta.status))
	spendStream(r, first, decode.Bool(request.stream), status)
	outcome(r, status, failureOf(decode.Nested(meta.failure)))
	row.ids(r, status, &meta)
	row.who(c, r, &meta)
	row.tokens(r, status != "failure", &meta, &request)
	response := row.object("response")
	r.FinishReason = finish(r, response, &request)
	c.Emit(r, row.prompt(c, r, &request))
	return nil
}

// spendStream settles Stream and the first token. The stamp is set by streams only and is the end otherwise; the
// database keeps milliseconds.
func spendStream(r *trace.Request, first *int64, asked *bool, status string) {
	if *r.Arrival%1000 == 0 && r.EndUS != nil && *r.EndUS%1000 == 0 && (first == nil || *first%1000 == 0) {
		r.TimePrecision = 1000
	}
	r.Stream = asked
	if status == "failure" || first == nil || r.EndUS == nil {
		return
	}
	if r.Stream == nil && *first < *r.EndUS {
		r.Stream = trace.Ptr(true)
	}
	if r.Stream != nil && *r.Stream {
		r.FirstUS, r.TTFTKind = first, trace.TTFTAny
	}
}

func (row spendRow) ids(r *trace.Request, status string, meta *metadata) {
	r.RequestID = row.text("request_id")
	derive(r)
	if status == "success" {
		r.ResponseID = responseID(row.text("request_id"))
	}
	r.SessionID = row.text("session_id")
	r.TraceID = traceID(r.SessionID)
	attempts(r, meta)
}

func (row spendRow) who(c *decode.Context, r *trace.Request, meta *metadata) {
	r.ModelRequested = firstOf(row.text("model_group"), row.text("model"))
	r.Deployment = row.text("model_id")
	if r.ErrorClass == trace.ClassOK || r.Deployment != "" {
		r.ModelServed = row.text("model")
	}
	r.Provider, r.Replica = row.text("custom_llm_provider"), decode.HostPort(row.text("api_base"))
	r.Tenant = firstOf(decode.Text(meta.teamAlias), row.text("team_id"), decode.Text(meta.teamID), row.text("organization_id"),
		decode.Text(meta.orgID))
	r.App = decode.LiteLLMApp(row.object("request_tags"))
	r.Route = decode.Text(meta.route)
	r.KeyHash = c.Key(row.text("api_key"))
	r.UserHash = c.User(row.text("end_user"))
	if hit := strings.ToLower(row.text("cache_hit")); hit == "true" || hit == "false" {
		r.CachedResponse = trace.Ptr(hit == "true")
	}
	if strings.Contains(r.RequestID, "_cache_hit") {
		r.CachedResponse = trace.Ptr(true)
	}
}

// tokens reads the usage object, or the columns with the details that metadata keeps beside them.
func (row spendRow) tokens(r *trace.Request, ok bool, meta *metadata, request *params) {
	r.MaxTokens = request.limit()
	usage(r, ok, request.usage(), decode.Nested(meta.usage), row.columns(meta))
}

// columns makes a usage object of the count columns and the details.
func (row spendRow) columns(meta *metadata) *decode.Value {
	text := []byte("{")
	for _, column := range []string{"prompt_tokens", "completion_tokens"} {
		if n := row.text(column); n != "" {
			text = append(text, `"`+column+`":`+n+`,`...)
		}
	}
	if o := decode.Nested(meta.moreUsage); o.GetObject() != nil {
		text = append(text, bytes.TrimPrefix(o.MarshalTo(nil), []byte("{"))...)
	} else {
		text = append(text, '}')
	}
	text = bytes.Replace(text, []byte(",}"), []byte("}"), 1)
	v, err := decode.Parse(text)
	if err != nil {
		return nil // counts that are no numbers
	}
	return v
}

// prompt uses the request's body where the operator stores it, else the messages column.
func (row spendRow) prompt(c *decode.Context, r *trace.Request, request *params) []byte {
	if r.EndpointKind == "embeddings" || r.EndpointKind == "rerank" || r.EndpointKind == "other" {
		return nil
	}
	messages := request.Get("messages")
	if messages == nil {
		messages = row.object("messages")
	}
	if messages == nil || !shape(c, r, messages, request) || !c.KeepBodies {
		return nil
	}
	return body(r, messages, request.Value)
}
