package ingest

import (
	"slices"
	"sync"

	"reprise/ingest/bench"
	"reprise/ingest/decode"
	"reprise/ingest/engine"
	"reprise/ingest/gateway"
	"reprise/ingest/mapping"
	"reprise/ingest/otel"
	"reprise/ingest/public"
)

// Formats gives the one list of what ingest understands: those written in Go and the mappings, which are read when they
// are first asked for. Callers must not change it.
var Formats = sync.OnceValue(func() []decode.Format { return slices.Concat(written, mapping.Presets()) })

// written are the formats that are Go. Adding one is adding a line.
var written = []decode.Format{
	gateway.LiteLLM(),
	gateway.SpendLogs(),
	otel.JSON(),
	otel.Joined(),
	otel.Proto(),
	otel.Base64(),
	otel.Flat(),
	otel.Jaeger(),
	otel.Zipkin(),
	otel.Triton(),
	otel.Langfuse(),
	public.Mooncake(),
	public.MooncakeBlocks(),
	public.MooncakeDelta(),
	public.Bailian(),
	public.Azure2023(),
	public.Azure2025(),
	public.BurstGPT(),
	public.Lengths(),
	public.Conversations(),
	public.Agentic(),
	public.ServeGen(),
	public.Reprise(),
	engine.VLLMLog(),
	engine.VLLMMetrics(),
	engine.SGLang(),
	engine.SGLangMetrics(),
	engine.TGI(),
	engine.LlamaCPP(),
	engine.LlamaCPPLog(),
	engine.Ollama(),
	engine.OllamaLog(),
	engine.TensorRTLLM(),
	bench.AIPerf(),
	bench.GuideLLM(),
	bench.VLLM(),
	bench.GenAIPerf(),
	bench.InferencePerf(),
}
