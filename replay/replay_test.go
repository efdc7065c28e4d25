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
	truth := truthByID(s)
	start := s.Truth().Server.StartUnixUS
	for _, r := range rows {
		tr, ok := truth[r.RequestID]
		if !ok {
			t.Fatalf("the server never saw %s", r.RequestID)
		}
		if *r.InputTokens != int64(tr.PromptTokens) || *r.OutputTokens != int64(tr.OutputTokens) || len(r.GapsUS) != len(tr.ChunkUS) {
			t.Errorf("%s: %d in %d out %d chunks, the server says %d %d %d", r.RequestID, *r.InputTokens, *r.OutputTokens, len(r.GapsUS), tr.PromptTokens, tr.OutputTokens, len(tr.ChunkUS))
		}
		for what, pair := range map[string][2]int64{
			"first": {*r.Arrival + *r.FirstUS, start + tr.WrittenUS[0]},
			"last":  {*r.Arrival + *r.LastUS, start + tr.WrittenUS[len(tr.WrittenUS)-1]},
			"sent":  {*r.Arrival + *r.SendLagUS, tr.ArrivalUnixUS},
		} {
			if d := pair[0] - pair[1]; d > 50_000 || d < -50_000 { // one machine, one wall clock; wide for a busy machine
				t.Errorf("%s %s: client %d server %d, %d us apart", r.RequestID, what, pair[0], pair[1], d)
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
