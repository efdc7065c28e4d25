package public

import (
	"slices"

	"reprise/ingest/decode"
)

// Lengths are tables of lengths without times, as Etalon and Sarathi-Serve publish of ShareGPT and arXiv.
func Lengths() decode.Format {
	return decode.Format{Name: "lengths", Title: "lengths of prompts and answers without times (CSV)", About: aboutLengths,
		Units: "no times", Defects: "conversations longer than the context length of the study are cut or left out", Example: "num_prefill_tokens,num_decode_tokens,num_total_tokens,pd_ratio\n74,918,992,0.08",
		Detect: func(s *decode.Sample) int { return named(s.Header, lengthColumns) }, CSV: lengthRows}
}

const aboutLengths = `CSV with the columns num_prefill_tokens and num_decode_tokens (Etalon's tables of ShareGPT and arXiv summaries).
Can contain: lengths in tokens, by the tokenizer that the file's name tells. Cannot: arrivals, latency, outcomes, models,
prefixes, which rows are of one conversation.

arrival        unknown: plan leaves such requests out unless --rate draws arrivals.
error_class    unknown: the table does not say. request_id is FILE:LINE. num_total_tokens and pd_ratio are not read.
`

var lengthColumns = []string{"num_prefill_tokens", "num_decode_tokens"}

func lengthRows(header []string) (func(*decode.Context, []string) error, error) {
	at, err := indices(header, lengthColumns)
	if err != nil {
		return nil, err
	}
	return func(c *decode.Context, row []string) error {
		if len(row) <= slices.Max(at) {
			return c.Reject("bad_row", "expected %d columns, got %d", len(header), len(row))
		}
		r := traced(c, "lengths")
		if r.InputTokens, r.OutputTokens = count(row[at[0]]), count(row[at[1]]); r.InputTokens == nil || r.OutputTokens == nil {
			return c.Reject("bad_length", "expected num_prefill_tokens and num_decode_tokens, got %q and %q", row[at[0]], row[at[1]])
		}
		c.Emit(r, nil)
		return nil
	}, nil
}
