package analyze

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"reprise/ingest/trace"
)

// shardReport is what a client stores: its part, its clock (offset and bound in ms at start and end; nothing for NaN).
func shardReport(i, of int, plan string, clocks string) string {
	return fmt.Sprintf(`{"planned":2,"fidelity":{"verdict":"FAITHFUL","reasons":[]},"shard":{"index":%d,"of":%d,"plan":%q,"requests_of_plan":8,"start_at_us":5000,%s}}`, i, of, plan, clocks)
}

func clocks(offset, bound float64) string {
	c := fmt.Sprintf(`{"source":"ntp a:123","offset_us":%g,"error_us":%g}`, offset*1e3, bound*1e3)
	return `"clock":` + c + `,"clock_end":` + c
}

func TestShardDoubts(t *testing.T) {
	good := clocks(0, .1)
	four := func(others ...string) []string {
		return append([]string{shardReport(0, 4, "p", good), shardReport(1, 4, "p", good), shardReport(2, 4, "p", good)}, others...)
	}
	last := func(clocks string) []string { return four(shardReport(3, 4, "p", clocks)) }
	for _, c := range []struct {
		name        string
		reports     []string
		gaps, apart string
	}{
		{"all there", last(good), "", ""},
		{"one lost", four(), "shards 3 of 4 are missing: 2 of the plan's 8 requests", ""},
		{"two lost", four()[:2], "shards 2, 3 of 4 are missing: 4 of the plan's 8 requests", ""},
		{"one twice", append(last(good), shardReport(1, 4, "p", clocks(0, .2))), "shards 1 of 4 were sent twice", ""},
		{"another plan", four(shardReport(3, 4, "q", good)), "not of one replay", ""},
		{"not of a plan", four(`{"fidelity":{"verdict":"FAITHFUL"}}`), "not of one replay", ""},
		{"4.9 ms apart", last(clocks(4.7, .1)), "", ""},
		{"6 ms apart", last(clocks(-6, .1)), "", "were 6.0 ms apart: they did not send as one"},
		{"not known well", last(clocks(2, 4)), "", "2.0 ms apart, known only to within 6.1 ms"},
		{"unknown", last(`"clock":{"source":"kernel","offset_us":null,"error_us":null,"why":"x"}`), "", "unknown (shard 3 knows nothing of its own"},
		{"other references", last(strings.ReplaceAll(good, "ntp a", "ntp b")), "", "held against ntp a:123 and ntp b:123"},
		{"a step", last(good + `,"wall_step_us":-9000`), "", "were 9.0 ms apart"},
	} {
		var list []replayed
		for _, text := range c.reports {
			var r replayed
			if err := json.Unmarshal([]byte(text), &r); err != nil {
				t.Fatal(err)
			}
			list = append(list, r)
		}
		gaps := strings.Join(shardGaps(list), "; ")
		apart := clocksApart(shards(list))
		if !strings.Contains(gaps, c.gaps) || (c.gaps == "") != (gaps == "") || !strings.Contains(apart, c.apart) || (c.apart == "") != (apart == "") {
			t.Errorf("%s: gaps %q, apart %q", c.name, gaps, apart)
		}
	}
}

// A folder of what two clients wrote is one run; the same request in both, and a copied folder, are said with every answer.
func TestShardsAreOneRun(t *testing.T) {
	dir := t.TempDir()
	write := func(folder, report string, ids ...string) {
		w, err := trace.NewWriter(filepath.Join(dir, folder))
		if err != nil {
			t.Fatal(err)
		}
		for i, id := range ids {
			r := trace.Request{RequestID: id, RootRequestID: id, Attempt: 1, Arrival: trace.Ptr(int64(1e15 + i)), EndUS: trace.Ptr(int64(7)), Vantage: trace.Replay, ClockDomain: trace.Wall,
				TimePrecision: 1, ErrorClass: trace.ClassOK, SourceFormat: "reprise-replay"}
			if err := w.Add(&r); err != nil {
				t.Fatal(err)
			}
		}
		if _, _, err := w.Commit("part", map[string]string{"reprise.replay": report}); err != nil {
			t.Fatal(err)
		}
	}
	seen := func() (n int64, warning string) {
		r, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		e, err := NewEngine(context.Background(), EngineOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		res, err := e.SQL(context.Background(), r, Scope{}, "SELECT count(*) FROM requests")
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range res.Warnings {
			if w.Code == "shards" {
				warning = w.Message
			}
		}
		return res.Rows[0][0].(int64), warning
	}
	write("shard-00000-of-00002", shardReport(0, 2, "p", clocks(0, 0)), "a", "b")
	if n, w := seen(); n != 2 || !strings.Contains(w, "shards 1 of 2 are missing: 6 of the plan's 8 requests") {
		t.Errorf("one of two: %d requests, %q", n, w)
	}
	write("shard-00001-of-00002", shardReport(1, 2, "p", clocks(0, 0)), "c", "d")
	if n, w := seen(); n != 4 || w != "" {
		t.Errorf("both: %d requests, %q", n, w)
	}
	write("shard-00001-of-00002 (copy)", shardReport(1, 2, "p", clocks(0, 0)), "c", "d")
	if n, w := seen(); n != 4 || !strings.Contains(w, "2 requests are in it more than once") {
		t.Errorf("with a copy: %d requests, %q", n, w)
	}
}
