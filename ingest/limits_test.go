package ingest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/ingest/trace"
)

func TestLimits(t *testing.T) {
	know := map[string]int64{"arrival": 1000, "end_us": 1000, "output_tokens": 1000, "replica": 1000, "gaps_us": 1000}
	for name, c := range map[string]struct {
		set  func(*Account)
		want []string
	}{
		"all is known, some failed": {func(a *Account) { a.Totals.Outcomes = map[string]int64{"ok": 990, "timeout": 10} }, nil},
		"survivors only":            {func(*Account) {}, []string{"100 % ended well: a log without one failed or abandoned call has likely lost them (survivorship)"}},
		"few survivors are no sign": {func(a *Account) {
			a.Totals.Kept, a.Totals.Outcomes = 499, map[string]int64{"ok": 499}
		}, nil},
		"weight by share": {func(a *Account) {
			a.Totals.Outcomes = map[string]int64{"ok": 990, "timeout": 10}
			a.Coverage = map[string]int64{"arrival": 1000, "end_us": 900, "output_tokens": 800, "replica": 0, "gaps_us": 0} // 9 x .1, 6 x .2, 3, 2
			a.Totals.Streams, a.Totals.Timed = 100, 50                                                                      // 8 x .5
		}, []string{"50 % of the streams have no first token: no TTFT and no pace for them", "100 % name no replica: no stall can be blamed on a neighbour",
			"100 % have no chunk times: stalls are estimated from the ends of calls"}},
		"nothing kept": {func(a *Account) { a.Totals.Kept = 0 }, nil},
	} {
		a := &Account{Totals: newFileAccount(""), Coverage: know}
		a.Totals.Kept, a.Totals.Outcomes = 1000, map[string]int64{"ok": 1000}
		if c.set(a); !cmp.Equal(a.Limits(), c.want) {
			t.Errorf("%s: %q", name, a.Limits())
		}
	}
}

func TestSeen(t *testing.T) {
	s := newSeen()
	s.see(&trace.Request{ErrorClass: "ok", Quality: "naive_time,tokens_missing", TimePrecision: 1_000_000})
	s.see(&trace.Request{ErrorClass: "ok", Stream: new(true), FirstUS: new(int64(5)), TimePrecision: 1000})
	s.see(&trace.Request{ErrorClass: "ok", Stream: new(false)})
	s.see(&trace.Request{ErrorClass: "timeout", Stream: new(true)})
	both := newSeen()
	both.add(s)
	both.add(s)
	want := Seen{map[string]int64{"ok": 6, "timeout": 2}, map[string]int64{"naive_time": 2, "tokens_missing": 2}, 4, 2, 2}
	if diff := cmp.Diff(want, both); diff != "" {
		t.Error(diff)
	}
}

// 457 of 12,238 are 3.7 %, and 11,781 are 96.3 %: 4 and 96. One of many is not none, and all but one not all.
func TestPercent(t *testing.T) {
	for _, c := range [][3]int64{{457, 12238, 4}, {11781, 12238, 96}, {2, 3, 67}, {1, 8, 13}, {1, 1000, 1}, {999, 1000, 99}, {0, 7, 0}, {7, 7, 100}} {
		if got := Percent(c[0], c[1]); got != c[2] {
			t.Errorf("%d of %d: %d %%, want %d", c[0], c[1], got, c[2])
		}
	}
}
