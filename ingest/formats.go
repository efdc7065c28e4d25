package ingest

import (
	"reprise/ingest/decode"
	"reprise/ingest/gateway"
	"reprise/ingest/mapping"
	"reprise/ingest/otel"
	"reprise/ingest/public"
)

// Formats is the one list of what ingest understands. Adding a format is adding a line.
var Formats = append([]decode.Format{
	gateway.LiteLLM(),
	gateway.SpendLogs(),
	otel.JSON(),
	otel.Proto(),
	otel.Flat(),
	public.Mooncake(),
	public.Azure2023(),
	public.Reprise(),
}, mapping.Presets()...)
