//go:build trino || spark

package analyze

import (
	"fmt"

	"reprise/ingest/trace"
)

// matches counts what was compared.
type matches struct{ answers, rows, differences int }

// differentRow is the first cell of the other engine's rows that differs: numbers that are whole on both sides exactly, others to 1e-9.
func differentRow(want *Result, got [][]any, engine string) string {
	if len(want.Rows) != len(got) {
		return fmt.Sprintf("%d rows on DuckDB, %d on %s\n%v\n%v", len(want.Rows), len(got), engine, want.Rows, got)
	}
	for i, row := range want.Rows {
		if len(row) != len(got[i]) {
			return fmt.Sprintf("row %d: %d columns on DuckDB, %d on %s", i+1, len(row), len(got[i]), engine)
		}
		for j, w := range row {
			if !sameValue(w, got[i][j]) {
				return fmt.Sprintf("row %d, %s: %v (%T) on DuckDB, %v (%T) on %s\n%v\n%v", i+1, want.Columns[j].Name, w, w, got[i][j], got[i][j], engine, row, got[i])
			}
		}
	}
	return ""
}
func sameValue(a, b any) bool {
	switch a := a.(type) {
	case float64:
		f, ok := b.(float64)
		return ok && near(a, f)
	case []any:
		l, ok := b.([]any)
		same := ok && len(a) == len(l)
		for i := 0; same && i < len(a); i++ {
			same = sameValue(a[i], l[i])
		}
		return same
	}
	return a == b
}

// oddRequests are streams as they come and what breaks figures: unknowns, failures, answers of one token, empty lists, values that
// are huge and tiny, and names that SQL could take for its own.
func oddRequests() []trace.Request {
	rows := fullRequests(30)
	set := func(i int, change func(r *trace.Request)) { change(&rows[i]) }
	set(1, func(r *trace.Request) {
		r.OutputTokens, r.ReasoningTokens, r.GapsUS, r.ChunkTokens = trace.Ptr(int64(1)), nil, []int32{200_000}, []int32{1}
	})
	set(2, func(r *trace.Request) { r.GapsUS, r.ChunkTokens, r.PrefixHashIDs = []int32{}, []int32{}, []int64{} })
	set(3, func(r *trace.Request) {
		r.GapsUS, r.ChunkTokens, r.FirstUS, r.LastUS, r.EndUS = nil, nil, nil, nil, nil
	})
	set(4, func(r *trace.Request) { r.ErrorClass, r.HTTPStatus = "timeout", nil })
	set(5, func(r *trace.Request) {
		r.ErrorClass, r.FirstUS, r.GapsUS, r.ChunkTokens = "client_cancel", nil, nil, nil
	})
	set(6, func(r *trace.Request) {
		r.EndUS, r.LastUS = trace.Ptr(int64(3_000_000_000_000)), trace.Ptr(int64(3_000_000_000_000))
	})
	set(7, func(r *trace.Request) {
		r.FirstUS, r.LastUS, r.EndUS, r.GapsUS, r.ChunkTokens = trace.Ptr(int64(1)), trace.Ptr(int64(3)), trace.Ptr(int64(3)), []int32{1, 1, 1}, []int32{1, 1, 1}
	})
	set(8, func(r *trace.Request) {
		r.InputTokens, r.OutputTokens, r.CachedInputTokens = trace.Ptr(int64(1_000_000_000_000)), trace.Ptr(int64(0)), trace.Ptr(int64(999_999_999_999))
	})
	set(9, func(r *trace.Request) { r.Tenant, r.ModelRequested, r.Replica = "it's \"t\"; --", "", "" })
	set(10, func(r *trace.Request) { r.Arrival, r.ClockDomain = nil, trace.Relative })
	set(11, func(r *trace.Request) {
		r.Stream, r.FirstUS, r.GapsUS, r.ChunkTokens, r.LastUS = trace.Ptr(false), nil, nil, nil, nil
	})
	set(12, func(r *trace.Request) { r.EndpointKind, r.Quality = "embeddings", "" })
	set(13, func(r *trace.Request) { r.Quality, r.CachedResponse = "pseudo_stream,tokens_missing", trace.Ptr(true) })
	set(14, func(r *trace.Request) {
		r.GapsUS, r.ChunkTokens = []int32{200_000, 0, 0, 700_000, 40_000}, []int32{1, 1, 5, 1, 12_000}
	})
	set(15, func(r *trace.Request) { r.Tenant, r.FinishReason, r.SessionID = "ünïcödé", "length", "" })
	set(16, func(r *trace.Request) { r.ErrorClass, r.SystemPromptTokens, r.SystemPromptHash = "in_flight", nil, "" })
	set(17, func(r *trace.Request) {
		r.InputTokens, r.CachedInputTokens, r.OutputTokens, r.QueueUS = nil, nil, nil, nil
	})
	set(20, func(r *trace.Request) { r.RequestID, r.Replica = rows[19].RequestID, rows[19].Replica }) // an id that was sent twice
	set(18, func(r *trace.Request) { r.GapsUS = []int32{200_000, 2_147_483_647, 40_000, 620_000, 40_000} })
	return rows
}
