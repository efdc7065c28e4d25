package analyze

import (
	"context"
	"math/rand/v2"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"reprise/ingest/trace"
)

// TestToldTwice: a second telling that knows nothing changes nothing, and one that knows only what the first does not
// makes the run whole again; on many rows, since lambdas over lists have read other rows before.
func TestToldTwice(t *testing.T) {
	e := newEngine(t)
	rng := rand.New(rand.NewPCG(3, 4))
	full := randomRequests(rng, 5000)
	var blank, halves []trace.Request
	for i := range full {
		twin := trace.Request{RequestID: full[i].RequestID, RootRequestID: full[i].RootRequestID, Attempt: 1, Vantage: trace.Engine, ClockDomain: trace.Wall,
			TimePrecision: 1, SourceFormat: "twin", ErrorClass: trace.ClassUnknown, Quality: "ttft_suspect"}
		blank = append(blank, full[i], twin)
		half := full[i]
		twin.Tenant, twin.Replica, twin.InputTokens, twin.HTTPStatus, twin.Stream = half.Tenant, half.Replica, half.InputTokens, half.HTTPStatus, half.Stream
		half.Tenant, half.Replica, half.InputTokens, half.HTTPStatus, half.Stream = "", "", nil, nil, nil
		halves = append(halves, twin, half)
	}
	want := allRequests(t, e, full)
	for name, rows := range map[string][]trace.Request{"blank": blank, "halves": halves} {
		if diff := gocmp.Diff(want, allRequests(t, e, rows)); diff != "" {
			t.Errorf("%s: requests told twice differ (-once +twice):\n%.2000s", name, diff)
		}
	}
}

func allRequests(t *testing.T, e *Engine, rows []trace.Request) [][]any {
	t.Helper()
	res, err := e.SQL(context.Background(), writeRun(t, rows), Scope{SLO: anySLO(t)}, `SELECT request_id, root_request_id, attempt, source_format, vantage,
		quality, arrival_us, model, tenant, replica, endpoint_kind, stream, cached_response, status, error_class, http_status, input_tokens, output_tokens,
		first_us, first_visible_us, last_us, end_us, ttft_us, tpot_us, e2e_us, max_gap_us, chunks, verdict FROM judged ORDER BY request_id`)
	if err != nil {
		t.Fatal(err)
	}
	return res.Rows
}
