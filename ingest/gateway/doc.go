// Package gateway decodes the logs of gateways whose records have a shape of their own.
//
// Contract: each exported function returns one [decode.Format]; ingest lists them. A decoder reads one record, fills
// one trace.Request and emits it; it keeps nothing between records. Contradictions inside a request (a first token
// after the end, more cached than input tokens) are left to trace.Check, which treats all formats alike.
//
// LiteLLM writes the same call in two shapes, and this package reads both with the same parts:
//
//	litellm.go    StandardLoggingPayload, one JSON object a logged event
//	spendlogs.go  rows of the SpendLogs table, as JSON or CSV
//	stamps.go     start, end and first token of both
//	outcome.go    what a failure was
//	tokens.go     usage in its dialects, finish reasons
//	prompt.go     the shape of the prompt, and the body when it is kept
//	names.go      who, where, which kind of call
package gateway
