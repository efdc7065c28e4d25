package replay

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"reprise/ingest/trace"
	"reprise/replay/fakellm"
)

// A whole replay against a server of known timing: every row against the server's own truth.
func TestReplayAgainstTruth(t *testing.T) {
	s, url := target(t, fakellm.Config{DecodeBase: 3 * time.Millisecond, PrefillBase: 20 * time.Millisecond})
	p := mustPlan(t, PlanOptions{}, requests(40, 10)...)
	rep, rows := replayed(t, p, Options{Target: url})
	if rep.Sent != 40 || rep.Classes[trace.ClassOK] != 40 || rep.Incomplete != "" || len(rows) != 40 {
		t.Fatalf("%+v", rep)
	}
	truth, h := truthByID(s), rep.Fidelity.Health
	start := s.Truth().Server.StartUnixUS
	for _, r := range rows {
		tr, ok := truth[r.RequestID]
		if !ok {
			t.Fatalf("the server never saw %s", r.RequestID)
		}
		if *r.InputTokens != int64(tr.PromptTokens) || *r.OutputTokens != int64(tr.OutputTokens) || len(r.GapsUS) != len(tr.ChunkUS) {
			t.Errorf("%s: %d in %d out %d chunks, the server says %d %d %d", r.RequestID, *r.InputTokens, *r.OutputTokens, len(r.GapsUS), tr.PromptTokens, tr.OutputTokens, len(tr.ChunkUS))
		}
		// A chunk cannot have come before the engine made it, nor after the server's write of it returned: on loopback the
		// kernel stamps it within that call (where there are kernel stamps, and no read brought several chunks under the
		// stamp of the last). One machine, one wall clock; 2 ms for its corrections.
		last := len(tr.ChunkUS) - 1
		for what, c := range map[string][3]int64{
			"first": {start + tr.ChunkUS[0], *r.Arrival + *r.FirstUS, start + tr.WrittenUS[0]},
			"last":  {start + tr.ChunkUS[last], *r.Arrival + *r.LastUS, start + tr.WrittenUS[last]},
			"sent":  {*r.Arrival, *r.Arrival + *r.SendLagUS, tr.ArrivalUnixUS},
		} {
			if c[1] < c[0]-2000 || c[1] > c[2]+2000 && *h.KernelShare == 1 && *h.Coalesced == 0 {
				t.Errorf("%s %s: %d us, the server says %d to %d", r.RequestID, what, c[1]-start, c[0]-start, c[2]-start)
			}
		}
		sum := int64(0)
		for _, g := range r.GapsUS {
			sum += int64(g)
		}
		if int64(r.GapsUS[0]) != *r.FirstUS || sum != *r.LastUS || r.Vantage != trace.Replay || r.TTFTKind != trace.TTFTContent || r.ChunkTokens != nil {
			t.Errorf("%s: %+v", r.RequestID, r)
		}
	}
	b, _ := json.MarshalIndent(rep, "", " ")
	if testing.Verbose() {
		fmt.Println(string(b))
	}
}
