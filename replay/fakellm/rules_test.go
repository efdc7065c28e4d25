package fakellm

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParseRules(t *testing.T) {
	rules, err := ParseRules(strings.NewReader(`[
		{"id": "s1", "do": {"end": "cut", "after": 6}},
		{"id": "job-*", "ordinal": 3, "do": {"hold_for": "500ms", "hold_after": 2, "keep_alive": "1s", "role": "early"}},
		{"share": 0.25, "do": {"status": 429, "retry_after": "24h"}}]`))
	if err != nil {
		t.Fatal(err)
	}
	want := Rules{
		{ID: "s1", Do: Behaviour{End: EndCut, After: 6}},
		{ID: "job-*", Ordinal: 3, Do: Behaviour{
			HoldFor: time.Second / 2, HoldAfter: 2, KeepAlive: time.Second, Role: RoleEarly,
		}},
		{Share: 0.25, Do: Behaviour{Status: 429, RetryAfter: 24 * time.Hour}},
	}
	if diff := cmp.Diff(want, rules); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestParseRulesRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`{}`:                                    "rules: json",
		`[{"idd": "x"}]`:                        `unknown field "idd"`,
		`[{"do": {"afte": 3}}]`:                 `unknown field "afte"`,
		`[{}, {"share": 2}]`:                    "rules[1]: want a share",
		`[{"do": {"end": "boom"}}]`:             `rules[0]: end: want error, cut, silence or marker, got "boom"`,
		`[{"do": {"role": "late"}}]`:            `got "late"`,
		`[{"do": {"status": 200}}]`:             "status: want 400 to 599, got 200",
		`[{"do": {"after": -1}}]`:               "want 0 to",
		`[{"do": {"hold_for": "-1s"}}]`:         "times: want 0 or more",
		`[{"do": {"hold_for": "1 fortnight"}}]`: "fortnight",
	} {
		if _, err := ParseRules(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseRules(%s): got error %v, want one with %q", text, err, want)
		}
	}
}

func TestRulesChooseTheFirst(t *testing.T) {
	rules := Rules{
		{ID: "a", Do: Behaviour{After: 1}}, {ID: "b*", Do: Behaviour{After: 2}}, {Ordinal: 7, Do: Behaviour{After: 3}},
		{ID: "b*", Do: Behaviour{After: 4}},
	}
	for _, c := range []struct {
		call Call
		want int
	}{
		{Call{ID: "a", Ordinal: 7}, 1}, {Call{ID: "ab"}, 0}, {Call{ID: "b"}, 2}, {Call{ID: "bc", Ordinal: 7}, 2},
		{Call{ID: "c", Ordinal: 7}, 3}, {Call{ID: "c", Ordinal: 8}, 0},
	} {
		if got := rules.For(c.call).After; got != c.want {
			t.Errorf("%+v: got rule %d, want %d", c.call, got, c.want)
		}
	}
}

// Of 4000 calls a rule with share 0.25 meets 1000, give or take 4 standard deviations (27.4 each), and always the same.
func TestRulesShare(t *testing.T) {
	rules := Rules{{Share: 0.25, Do: Behaviour{Status: 500}}}
	count := 0
	for i := range 4000 {
		c := Call{ID: fmt.Sprint("id", i), Draw: mix(uint64(i))}
		first := rules.For(c)
		if first.Status == 500 {
			count++
		}
		if diff := cmp.Diff(first, rules.For(c)); diff != "" {
			t.Fatalf("call %d chose twice, differently:\n%s", i, diff)
		}
	}
	if count < 890 || count > 1110 {
		t.Errorf("share 0.25 met %d of 4000 calls, want about 1000", count)
	}
}

// Whatever the text, parsing ends; every rule that is accepted may be used.
func FuzzParseRules(f *testing.F) {
	f.Add(`[{"id": "s1", "do": {"end": "cut", "after": 6}}]`)
	f.Add(`[{"share": 0.5, "do": {"status": 429, "retry_after": "1s", "role": "none"}}]`)
	f.Fuzz(func(t *testing.T, text string) {
		rules, err := ParseRules(strings.NewReader(text))
		if err != nil {
			return
		}
		for _, r := range rules {
			if err := r.Do.check(); err != nil || !(r.Share >= 0 && r.Share <= 1) {
				t.Errorf("accepted %+v: %v", r, err)
			}
		}
		rules.For(Call{ID: "s1", Ordinal: 1})
	})
}
