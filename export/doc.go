// Package export makes what may leave the machine out of the requests of a run: names become keyed hashes, prompt blocks
// numbers, and of what was asked only lengths and what is shared remain.
//
// Flow: [Names.Rows] renames the rows of a run as they are read. As JSON lines they leave just so. For the inputs of
// load generators a plan is made of the renamed rows, one [Call] a logical request; [NewTrace] cuts the prompts of all
// calls into blocks of one size, [Trace.Mooncake], [Trace.GuideLLM] and [Trace.Evalscope] write them, and [FindRare]
// says which prefixes only few calls have.
//
// Contract: nothing is invented. Two prompts share a block only if the run says that they share all text up to its end;
// the time of a call is as recorded, from the first call; what is unknown is left out, or has blocks of its own where a
// reader demands some. The same calls give the same bytes.
package export
