package ingest

import (
	"reprise/ingest/decode"
	"reprise/ingest/gateway"
)

// Formats is the one list of what ingest understands. Adding a format is adding a line.
var Formats = []decode.Format{
	gateway.LiteLLM(),
}
