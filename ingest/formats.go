package ingest

import "reprise/ingest/decode"

// Formats is the one list of what ingest understands. Adding a format is adding a line.
var Formats = []decode.Format{}
