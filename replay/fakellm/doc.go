// Package fakellm is an OpenAI-compatible HTTP server over a model of an inference engine. It computes nothing; it
// knows when each token is due, writes it then, and records both times. A replay, a decoder or a report that is run
// against it can be checked against that truth, number by number. Endpoints: chat completions, completions, responses and
// embeddings as OpenAI has them, messages as Anthropic has them.
//
// # The engine
//
// One loop of steps, as in an engine with continuous batching. A step serves every running stream at once:
//
//	cost = DecodeBase + DecodePerRunning*(R-1)      when R > 0 streams decode in the step
//	     + PrefillBase + PrefillPerToken*P          when the step prefills (P uncached prompt tokens)
//	     + every pause that begins inside the step
//
// At the start of a step: slots of cancelled streams are freed; streams whose prefill is under way take from the step's
// budget of PrefillChunk prompt tokens in order of arrival; then waiting requests are admitted in order of arrival while
// there is a slot and budget left. PrefillChunk 0 is a budget without limit: every prompt that gets a slot is prefilled
// whole in that one step, and every decoding stream waits for it. At the end of the step each decoding stream has its
// next chunk of tokens, and a stream whose prefill is complete has its first token. Tokens of a step become visible
// together, at its end. The next step starts at the modelled end of the one before, however late the machine woke up;
// with nothing to do the engine waits for an arrival, and the step starts at the arrival.
//
// Requests that are in the system (in a slot or waiting) beyond Slots+QueueLimit are refused with 429.
//
// The model is a function of the moments of arrival and cancellation (Simulate runs it without a clock): truth of a live
// run fed to Simulate gives the same steps, to the microsecond.
//
// # Tokens
//
// One whitespace-separated word is one token; a chat template costs nothing. Prompt tokens are the words of the text
// contents of all messages in order (or of the prompt; a prompt of token ids counts its ids), so a text of n words has
// exactly n tokens. Roles, tool definitions and images count nothing. Output tokens are words from a fixed list, drawn
// by seed. Prefix cache blocks are chains of BlockTokens words over that word sequence; only full blocks are kept, only
// blocks of prompts (not of answers) enter, at the end of the step that computed them; a block ends a hit when an
// earlier one is missing; at least one prompt token is always computed, as in vLLM. The least recently used block goes
// first, and within one prompt the last block before the first.
//
// # Flow
//
//	handler: read, parse, choose Behaviour -> engine.arrive -> wait for chunks -> frame -> write and flush -> truth
//	drive:   one locked thread: sleep to the end of the step, engine.advance, hand chunks to the handlers
//
// Times in the truth are whole microseconds since New unless the name says unix.
package fakellm
