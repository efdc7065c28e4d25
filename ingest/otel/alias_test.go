package otel

import (
	"testing"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// ING-08: old token names only, new names only, both.
func TestAliases(t *testing.T) {
	conflicts := 0
	for _, c := range []struct {
		attributes string
		want       int64
	}{
		{`{"gen_ai.request.model":"m","gen_ai.usage.prompt_tokens":80}`, 80},
		{`{"gen_ai.request.model":"m","gen_ai.usage.input_tokens":70}`, 70},
		{`{"gen_ai.request.model":"m","gen_ai.usage.prompt_tokens":90,"gen_ai.usage.input_tokens":100}`, 100},
		{`{"gen_ai.request.model":"m","gen_ai.usage.prompt_tokens":60,"gen_ai.usage.input_tokens":"60"}`, 60},
	} {
		r := only(t, oneSpan(c.attributes, ""))
		if show(r.InputTokens) != c.want {
			t.Errorf("%s: input %v, want %d", c.attributes, show(r.InputTokens), c.want)
		}
		if r.HasQuality(trace.QAliasConflict) {
			conflicts++
		}
	}
	if conflicts != 1 {
		t.Errorf("%d conflicts, want 1", conflicts)
	}
}

// ING-09: the unit belongs to the name.
func TestFirstTokenUnits(t *testing.T) {
	for _, name := range []string{"gen_ai.response.time_to_first_chunk", "gen_ai.client.operation.time_to_first_chunk", "gen_ai.server.time_to_first_token",
		"gen_ai.client.response.time_to_first_token", "gen_ai.server.ttft", "gen_ai.latency.time_to_first_token"} {
		r := only(t, oneSpan(`{"gen_ai.request.model":"m","`+name+`":0.5}`, ""))
		var streamed any = true // only streams have a first chunk, but engines time the first token of every call
		if name == "gen_ai.latency.time_to_first_token" {
			streamed = nil
		}
		if show(r.FirstUS) != int64(500000) || show(r.Stream) != streamed || r.HasQuality(trace.QAliasConflict) {
			t.Errorf("%s: %v, stream %v", name, show(r.FirstUS), show(r.Stream))
		}
	}
	r := only(t, oneSpan(`{"ai.operationId":"ai.streamText.doStream","ai.response.msToFirstChunk":500}`, ""))
	if show(r.FirstUS) != int64(500000) || show(r.Stream) != true {
		t.Errorf("milliseconds: %v, stream %v", show(r.FirstUS), show(r.Stream))
	}
	r = only(t, oneSpan(`{"gen_ai.request.model":"m","gen_ai.response.time_to_first_chunk":0.5,"ai.response.msToFirstChunk":900}`, ""))
	if show(r.FirstUS) != int64(500000) || !r.HasQuality(trace.QAliasConflict) {
		t.Errorf("two names: %v, quality %q", show(r.FirstUS), r.Quality)
	}
}

// The span lasts 2 s. OpenInference's event counts only if it was stamped live (formats.md 3.5).
func TestFirstTokenEvent(t *testing.T) {
	const attributes = `{"openinference.span.kind":"LLM","llm.model_name":"m"}`
	for _, c := range []struct {
		at, quality string
		first       any
	}{
		{"1735689600400000000", "", int64(400000)},
		{"1735689601970000000", "", int64(1970000)},
		{"1735689601981000000", trace.QFirstIsEnd, nil}, // last 1 %
		{"1735689602000000000", trace.QFirstIsEnd, nil},
	} {
		r := only(t, oneSpan(attributes, `"events":[{"name":"First Token Stream Event","timeUnixNano":"`+c.at+`"}]`))
		if show(r.FirstUS) != c.first || r.Quality != c.quality {
			t.Errorf("event at %s: first %v, quality %q", c.at, show(r.FirstUS), r.Quality)
		}
	}
}

func TestChunkEvents(t *testing.T) {
	const events = `"events":[{"name":"llm.content.completion.chunk","timeUnixNano":"1735689600100000000"},
		{"name":"llm.content.completion.chunk","timeUnixNano":"1735689600140000000"},{"name":"llm.content.completion.chunk","timeUnixNano":"1735689600190000000"}]`
	r := only(t, oneSpan(`{"llm.request.type":"chat","gen_ai.request.model":"m"}`, events))
	if show(r.FirstUS) != int64(100000) || len(r.GapsUS) != 3 || r.GapsUS[1] != 40000 || r.GapsUS[2] != 50000 || r.EndpointKind != "chat" {
		t.Errorf("first %v, gaps %v, kind %q", show(r.FirstUS), r.GapsUS, r.EndpointKind)
	}
	r = only(t, oneSpan(`{"llm.request.type":"chat"}`, `"droppedEventsCount":3,`+events))
	if r.FirstUS != nil || r.GapsUS != nil {
		t.Errorf("with dropped events: first %v, gaps %v", show(r.FirstUS), r.GapsUS)
	}
}

// Cached tokens are a part of the input; where the counts prove otherwise they are added.
func TestExclusiveCounts(t *testing.T) {
	for _, c := range []struct {
		attributes string
		input      int64
		added      bool
	}{
		{`"gen_ai.usage.input_tokens":1441,"gen_ai.usage.cache_read.input_tokens":1408,"gen_ai.usage.output_tokens":20,"gen_ai.usage.total_tokens":1461`, 1441, false},
		{`"gen_ai.usage.input_tokens":1441,"gen_ai.usage.cache_read.input_tokens":1408`, 1441, false},
		{`"gen_ai.usage.input_tokens":33,"gen_ai.usage.cache_read_input_tokens":1408`, 1441, true},
		{`"gen_ai.usage.prompt_tokens":2000,"gen_ai.usage.completion_tokens":20,"gen_ai.usage.cache_read_input_tokens":1000,"gen_ai.usage.cache_creation_input_tokens":500,"llm.usage.total_tokens":3520`, 3500, true},
	} {
		r := only(t, oneSpan(`{"gen_ai.request.model":"m",`+c.attributes+`}`, ""))
		if show(r.InputTokens) != c.input || r.HasQuality(trace.QCachedExclusive) != c.added {
			t.Errorf("%s: input %v, quality %q; want %d", c.attributes, show(r.InputTokens), r.Quality, c.input)
		}
	}
}

// Langfuse's buckets do not overlap, unless the total says that they do.
func TestLangfuseBuckets(t *testing.T) {
	for _, c := range []struct {
		usage   string
		in, out int64
		added   bool
	}{
		{`{"input":33,"output":20,"total":1461,"input_cached_tokens":1408,"output_reasoning_tokens":0}`, 1441, 20, true},
		{`{"input":100,"output":20,"total":160,"input_cached_tokens":0,"output_reasoning_tokens":40}`, 100, 60, false},
		{`{"input":1441,"output":60,"total":1501,"input_cached_tokens":1408,"output_reasoning_tokens":40}`, 1441, 60, false},
	} {
		r := only(t, oneSpan(`{"langfuse.observation.type":"generation","langfuse.observation.usage_details":`+quote(t, c.usage, 1)+`}`, ""))
		if show(r.InputTokens) != c.in || show(r.OutputTokens) != c.out || r.HasQuality(trace.QCachedExclusive) != c.added {
			t.Errorf("%s: %v and %v, quality %q; want %d and %d", c.usage, show(r.InputTokens), show(r.OutputTokens), r.Quality, c.in, c.out)
		}
	}
}

func TestNoTimes(t *testing.T) {
	r := only(t, `{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"x","endTimeUnixNano":"5","attributes":{"gen_ai.request.model":"m"}}]}]}]}`)
	if r.Arrival != nil || r.EndUS != nil || r.RequestID != "spans.json:1:0" || !r.HasQuality(trace.QIDDerived) {
		t.Errorf("arrival %v, end %v, id %q, quality %q", show(r.Arrival), show(r.EndUS), r.RequestID, r.Quality)
	}
	r = only(t, `{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"x","startTimeUnixNano":"2000501","endTimeUnixNano":"1000000","attributes":{"gen_ai.request.model":"m"}}]}]}]}`)
	if *r.Arrival != 2001 || *r.EndUS != -1001 || r.RequestID != "at-2001" { // left for trace.Check to drop (ING-05)
		t.Errorf("arrival %d, end %d, id %q", *r.Arrival, *r.EndUS, r.RequestID)
	}
}

func TestOptions(t *testing.T) {
	record := oneSpan(`{"gen_ai.request.model":"m","user.id":"ann"}`, "")
	r := decodeJSON(t, JSON(), decode.Options{Vantage: trace.Gateway}, record).rows[0]
	if r.Vantage != trace.Gateway || r.UserHash == "ann" || len(r.UserHash) != 32 {
		t.Errorf("vantage %q, user %q", r.Vantage, r.UserHash)
	}
	if r = decodeJSON(t, JSON(), decode.Options{PlainUser: true}, record).rows[0]; r.UserHash != "ann" {
		t.Errorf("plain user %q", r.UserHash)
	}
}
