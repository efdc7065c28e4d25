package ingest

import (
	"reprise/ingest/decode"
	"reprise/ingest/gateway"
	"reprise/ingest/otel"
)

// Formats is the one list of what ingest understands. Adding a format is adding a line.
var Formats = []decode.Format{
	gateway.LiteLLM(),
	otel.JSON(),
	otel.Proto(),
	otel.Flat(),
}
