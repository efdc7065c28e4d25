// Package replay sends recorded traffic again and says how faithfully it did.
//
// Flow: [BuildPlan] turns the rows of a run into a [Plan]: one item a logical request with the time it is due, its lengths
// and the shape of its prompt. [Run] probes the target, then a builder makes request bodies ahead of need (prompt.go,
// body.go), the dispatcher (dispatch.go) starts each call at its due time, package wire sends it and stamps
// the answer, record.go turns the outcome into a row of a run, and fidelity.go judges the whole.
//
// Contract: open loop. A call leaves when it is due, whatever the others do; every latency counts from the due time, so
// a late client shows instead of hiding. Nothing is sent twice unless retries are asked for (attempts.go). The same plan with the same options gives the same bytes.
// What was sent is always recorded, also when the run is interrupted.
//
// With PacingSessions (sessions.go) a turn is due at the later of its own time and the end of the answer before it plus the
// recorded think time; what that adds is reported as dependency, apart from the lag of this client. thread.go puts the
// target's answers into the turns that follow. breaker.go ends a hopeless replay.
//
// Several clients can share a plan (shard.go): each cuts its sessions out of the same plan, all start at one instant of the wall
// clock, and clock.go says how far off that is. What they write together is one run.
//
// probe.go adds long prompts and their controls at random moments, which measure what a prefill does to the streams of others.
//
// Prompts are synthetic: words that are one token each in common tokenizers, as many as the recorded prompt had tokens,
// equal where recorded prompts had equal prefixes. Recorded bodies are sent instead when the run kept them.
package replay
