package public

import (
	"slices"
	"time"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// BurstGPT is the BurstGPT trace in its three releases, with and without failures.
func BurstGPT() decode.Format {
	return decode.Format{Name: "burstgpt", Title: "BurstGPT trace 1, 2 and 3 (CSV)", About: aboutBurstGPT,
		Units: "Timestamp: whole seconds from local midnight of the first day; Elapsed time: seconds", Defects: "some 8 % of the rows have neither request nor response tokens; the third release puts its columns in the middle",
		Example: "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,ChatGPT,472,18,490,Conversation log",
		Detect:  func(s *decode.Sample) int { return named(s.Header, burstColumns[2:]) }, CSV: burstGPT}
}

const aboutBurstGPT = `CSV with the columns Timestamp, Model, Request tokens, Response tokens, Total tokens, Log Type; the third release has
Session ID and Elapsed time behind Timestamp (https://github.com/HPMLL/BurstGPT). Columns are found by name.
Can contain: arrivals, lengths in tokens, models, which calls failed; in the third release conversations and how long a
call took. Cannot: first tokens, prefixes, tenants, why a call failed.

Timestamp      seconds from midnight, local time, of the first day, which is not named: a relative clock, whole seconds.
               Calls of one second have no order.
Elapsed time   seconds from the call to the end of its answer: end_us, never a first token.
Response tokens 0  marks a call that failed: upstream_error, for want of a reason, and output_tokens unknown. Some 8 % of
               the rows have 0 request tokens too: input_tokens unknown. Other rows are ok. In the without_fails files they
               are missing.
route          the Log Type (Conversation log, API log). session_id is FILE:SESSION ID; rows of the API log have none.
request_id is FILE:LINE. Total tokens is not read.
`

var burstColumns = []string{"Timestamp", "Model", "Request tokens", "Response tokens", "Log Type"}

func burstGPT(header []string) (func(*decode.Context, []string) error, error) {
	at, err := indices(header, burstColumns)
	if err != nil {
		return nil, err
	}
	session, elapsed := slices.Index(header, "Session ID"), slices.Index(header, "Elapsed time")
	last := max(slices.Max(at), session, elapsed)
	return func(c *decode.Context, row []string) error {
		if len(row) <= last {
			return c.Reject("bad_row", "expected %d columns, got %d", len(header), len(row))
		}
		r := traced(c, "burstgpt")
		us, err := decode.Micros(row[at[0]], time.Second)
		if err != nil || us < 0 {
			return c.Reject("bad_time", "Timestamp: expected seconds from 0, got %q", row[at[0]])
		}
		r.Arrival, r.ClockDomain, r.TimePrecision = &us, trace.Relative, 1e6
		r.InputTokens, r.OutputTokens = count(row[at[2]]), count(row[at[3]])
		if r.InputTokens == nil || r.OutputTokens == nil {
			return c.Reject("bad_length", "expected Request tokens and Response tokens, got %q and %q", row[at[2]], row[at[3]])
		}
		r.ModelRequested, r.Route = row[at[1]], row[at[4]]
		if session >= 0 && row[session] != "" {
			r.SessionID = c.File + ":" + row[session]
		}
		if elapsed >= 0 && row[elapsed] != "" {
			us, err := decode.Micros(row[elapsed], time.Second)
			if err != nil || us < 0 {
				return c.Reject("bad_time", "Elapsed time: expected seconds, got %q", row[elapsed])
			}
			r.EndUS = known(us)
		}
		r.ErrorClass = trace.ClassOK
		if *r.OutputTokens == 0 {
			r.ErrorClass = trace.ClassUpstream
		}
		r.InputTokens, r.OutputTokens = known(*r.InputTokens), known(*r.OutputTokens)
		c.Emit(r, nil)
		return nil
	}, nil
}

// known turns the 0 that stands for "not measured" into nothing.
func known(n int64) *int64 {
	if n == 0 {
		return nil
	}
	return &n
}
