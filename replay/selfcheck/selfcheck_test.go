package selfcheck

import (
	"context"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"reprise/ingest/trace"
	"reprise/replay"
	"reprise/replay/fakellm"
)

// A client that carries 700: 100, 200, 400 hold, 800 breaks twice, sqrt(400 * 800) = 565.7 holds. By hand.
func TestLadder(t *testing.T) {
	later := time.Now().Add(time.Hour)
	for _, c := range []struct {
		name          string
		limit, hiccup float64
		deadline      time.Time
		loads         []int
		carried       int
		broke         string
	}{
		{"between", 700, 0, later, []int{100, 200, 400, 800, 800, 566}, 566, "too much"},
		{"not between", 500, 0, later, []int{100, 200, 400, 800, 800, 566}, 400, "too much"},
		{"not even the lowest", 50, 0, later, []int{100, 100}, 0, "too much"},
		{"busy machine", 50, maxLag + 1, later, []int{100, 100, 100, 100, 100}, 0, "too much"},
		{"no time", 700, 0, time.Now().Add(-time.Hour), []int{}, 0, ""},
		{"no end", 1e9, 0, later, []int{100, 200, 400, 800, 1600, 3200, 6400, 12800}, 12800, ""},
	} {
		loads := []int{}
		l, err := climb(t.Context(), 100, c.deadline, func(_ context.Context, load int) (replay.Rung, error) {
			loads = append(loads, load)
			r := replay.Rung{Load: load, HiccupP99: c.hiccup}
			if float64(load) > c.limit {
				r.Broke = "too much"
			}
			return r, nil
		})
		if diff := gocmp.Diff(c.loads, loads); diff != "" || err != nil || l.Carried != c.carried || l.Limit != c.broke || len(l.Rungs) != len(loads) {
			t.Errorf("%s: carried %d, limit %q, %v\n%s", c.name, l.Carried, l.Limit, err, diff)
		}
	}
}

// A hiccup of one try does not end the ladder.
func TestLadderTriesAgain(t *testing.T) {
	n := 0
	l, _ := climb(t.Context(), 6400, time.Now().Add(time.Hour), func(_ context.Context, load int) (r replay.Rung, _ error) {
		if n++; n == 1 {
			r.Broke = "a hiccup"
		}
		return r, nil
	})
	if l.Carried != 12800 || l.Limit != "" || n != 3 {
		t.Errorf("%+v after %d tries", l, n)
	}
}

// By hand: chunks recorded 50 us before, within, and 300 us after the server's write calls of [1000, 1100], [2000, 2100] and
// [3000, 3100] us; one microsecond is forgiven for rounding. The second client's chunk is 900 us late.
func TestJoin(t *testing.T) {
	row := func(id string, arrival int64, gaps ...int32) *trace.Request {
		return &trace.Request{RequestID: id, Arrival: &arrival, GapsUS: gaps, ErrorClass: trace.ClassOK}
	}
	truth := fakellm.Truth{Server: fakellm.ServerTruth{StartUnixUS: 1_000_000}, Requests: []fakellm.RequestTruth{
		{ID: "0-a", ArrivalUnixUS: 1_000_420, WritingUS: []int64{1000, 2000, 3000}, WrittenUS: []int64{1100, 2100, 3100}, ChunkUS: []int64{990, 1990, 2990}},
		{ID: "1-b", ArrivalUnixUS: 1_000_410, WritingUS: []int64{1000}, WrittenUS: []int64{1100}, ChunkUS: []int64{990}},
		{ID: "0-c", WritingUS: []int64{1}, WrittenUS: []int64{1}, ChunkUS: []int64{1}},
	}}
	failed := row("0-d", 1_000_400)
	failed.ErrorClass = trace.ClassNetwork
	var o observed
	o.join([]*trace.Request{row("0-a", 1_000_400, 550, 1100, 1350), row("1-b", 1_000_400, 1600), row("0-c", 1_000_400, 5, 5), failed}, truth)
	want := map[string][]float64{"kernel": {49, 0, 299}, "clock": {899}, "arrived": {20, 10, -1_000_400}, "late": {110, 110, 110, 110}, "write": {100, 100, 100, 100}}
	got := map[string][]float64{"kernel": o.kernel, "clock": o.user, "arrived": o.arrived, "late": o.late, "write": o.write}
	// 0-a: 400+550 = 950 is 50 before 1000; +1100 = 2050 lies in [2000, 2100]; +1350 = 3400 is 300 after 3100
	if diff := gocmp.Diff(want, got); diff != "" || o.failed != 1 || o.wrong != 1 || o.chunks != 4 {
		t.Errorf("%d failed, %d wrong, %d chunks\n%s", o.failed, o.wrong, o.chunks, diff)
	}
}

// A short check of this very client: everything is measured, and the clock, which is read after the kernel stamped, is not
// nearer to the truth.
func TestRun(t *testing.T) {
	c, err := Run(t.Context(), 3*time.Second, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.Send.Error.N < 20 || c.Send.Server.N < 20 || c.Send.Server.P50 < c.Send.Error.P50 || c.Stamps.Clock.N < 50 || c.CPUs < 1 || c.TookUS <= 0 ||
		len(c.Streams.Rungs)+len(c.Requests.Rungs) == 0 { // a busy machine gets up one of the ladders only
		t.Errorf("%+v", c)
	}
	if k := c.Stamps.Kernel; k != nil && (k.N < 50 || k.P50 > c.Stamps.Clock.P50) {
		t.Errorf("kernel stamps %+v are further off than the clock %+v", k, c.Stamps.Clock)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := Run(ctx, time.Second, nil); err == nil {
		t.Error("no error although it was interrupted")
	}
}
