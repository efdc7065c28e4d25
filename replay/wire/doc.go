// Package wire sends one request to an inference server and says what came back, and when to the microsecond. It reads the
// answers of OpenAI's chat completions, completions, responses and embeddings and of Anthropic's messages.
//
// Contract: [Client.Do] never returns an error and never hangs. Whatever happens (refused, reset, silent, not an event
// stream, an error inside a 200) is an [Outcome] with a class, and what did arrive until then is kept. It never retries
// and follows no redirect. No prompt, header or error message is kept, and answer text only when the call asks for it.
//
// A stream is complete only with a finish reason: gateways were seen to end a broken one with a clean close, and even with
// the end marker.
//
// Flow: a request goes through a [net/http.Transport] (HTTP/1.1) whose connections are ours (conn.go): each read is
// stamped, on Linux by the kernel when the bytes arrived, so that a busy client does not move the figures; connections
// to TLS servers can be made ahead of need (ahead.go). The bytes go through [Parser] (the event-stream rules in full),
// each event through frame.go (and responses.go, messages.go, embeddings.go), which finds the few facts that count without building the JSON, and stream.go adds them
// up. watch.go ends what takes too long, classify.go names failures.
//
// All instants are monotonic; a kernel stamp is turned into one by its age at the read, so a step of the wall clock
// does no harm. What remains: bytes that wait for a late reader share the stamp of the newest among them
// (Outcome.Coalesced counts), for the kernel merges segments that wait.
package wire
