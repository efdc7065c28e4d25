// Package demo holds a real log for `reprise demo`, so that the command works without a checkout. See README.md.
package demo

import "embed"

// Files are baseline.litellm.jsonl.zst, the gateway's log, and baseline.spans.jsonl.zst, its OTLP spans.
//
//go:embed *.zst
var Files embed.FS
