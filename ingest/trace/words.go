package trace

// Words gives the allowed texts of a column that holds only certain ones, nil for any: a word that no query knows would
// drop the row from every figure without a sign.
func Words(column string) []string {
	switch column {
	case "vantage":
		return []string{Client, Gateway, Engine, Replay}
	case "clock_domain":
		return []string{Wall, Monotonic, Relative}
	case "ttft_kind":
		return []string{TTFTEngine, TTFTContent, TTFTAny, TTFTBody}
	case "error_class":
		return []string{ClassOK, ClassCancel, ClassTimeout, ClassRateLimited, ClassClientError, ClassContextLength,
			ClassContentFilter, ClassUpstream, ClassNetwork, ClassInFlight, ClassUnknown}
	case "finish_reason":
		return []string{"stop", "length", "tool_calls", "content_filter", "abort", "error", "other"}
	case "endpoint_kind":
		return []string{"chat", "completions", "responses", "messages", "embeddings", "rerank", "other"}
	case "tokens_source":
		return []string{"usage", "estimated", "chunks"}
	}
	return nil
}
