package analyze

import (
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

func TestParseSLO(t *testing.T) {
	for _, c := range []struct {
		text string
		want SLO
	}{
		{"ttft<=450ms,tpot<=40ms,e2e<=10s,max_gap<=250ms@99%", SLO{[]Term{{"ttft", 450_000, .99, 0}, {"tpot", 40_000, .99, 0}, {"e2e", 10_000_000, .99, 0},
			{"max_gap", 250_000, .99, 0}}, .99, "", nil}},
		{"ttft<=1s", SLO{[]Term{{"ttft", 1_000_000, .99, 0}}, .99, "", nil}},
		{" ttfvt <= 0.5 s , tpot<=500us @ 99.9 % ", SLO{[]Term{{"ttfvt", 500_000, .999, 0}, {"tpot", 500, .999, 0}}, .999, "", nil}},
		{"ttft<=1s@99%,tpot<=60ms@95%", SLO{[]Term{{"ttft", 1_000_000, .99, 0}, {"tpot", 60_000, .95, 0}}, .95, "", nil}},
		{"ttft<=1s@90%,tpot<=60ms", SLO{[]Term{{"ttft", 1_000_000, .90, 0}, {"tpot", 60_000, .99, 0}}, .90, "", nil}},
		{"mlperf-llama2-70b-interactive", SLO{[]Term{{"ttft", 450_000, .99, 0}, {"tpot", 40_000, .99, 0}}, .99, "", nil}},
		{"guidellm-chat", SLO{[]Term{{"ttft", 200_000, .99, 0}, {"tpot", 50_000, .99, 0}}, .99, "", nil}},
		{"ttft <= 200ms + 0.1ms*in, e2e<=1s+2us * in@95%", SLO{[]Term{{"ttft", 200_000, .95, 100}, {"e2e", 1_000_000, .95, 2}}, .95, "", nil}},
		{"e2e<=0.001ms", SLO{[]Term{{"e2e", 1, .99, 0}}, .99, "", nil}},
	} {
		got, err := ParseSLO(c.text)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		c.want.Text = strings.TrimSpace(c.text)
		if diff := gocmp.Diff(c.want, got); diff != "" {
			t.Errorf("%q: %s", c.text, diff)
		}
	}
}

func TestParseSLOErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                      "slo: position 1: expected a metric (ttft, ttfvt, tpot, e2e, max_gap) or a preset (guidellm-chat, ",
		"ttfd<=1s":              "slo: position 1: expected a metric (ttft, ",
		"ttft<1s":               `slo: position 5: expected <= after ttft, got "<1s"`,
		"ttft<=fast":            `slo: position 7: expected a number, got "fast"`,
		"ttft<=450":             `slo: position 10: expected a unit (us, ms, s) after 450, got ""`,
		"ttft<=450m":            `slo: position 10: expected a unit (us, ms, s) after 450, got "m"`,
		"ttft<=0s":              "slo: position 7: expected a bound of 1us to 30 days in whole microseconds, got 0s",
		"ttft<=31536000s":       "slo: position 7: expected a bound of 1us to 30 days",
		"ttft<=1.5us":           "slo: position 7: expected a bound of 1us to 30 days in whole microseconds, got 1.5us",
		"ttft<=1.2.3s":          `slo: position 7: expected a number, got "1.2.3s"`,
		"ttft<=1s,":             `slo: position 10: expected a metric (`,
		"ttft<=1s;tpot<=1ms":    `slo: position 9: expected a comma or the end, got ";tpot<=1ms"`,
		"tpot<=1s+1ms*in":       "slo: position 9: only ttft, ttfvt and e2e may grow with the input, not tpot",
		"ttft<=1s+1ms*out":      `slo: position 14: expected *in after +1ms, got "out"`,
		"ttft<=1s+2s*in":        "slo: position 10: expected up to 1s an input token, got 2s",
		"ttft<=1s+fast":         `slo: position 10: expected a number, got "fast"`,
		"ttft<=1s,ttft<=2s":     "slo: position 18: second bound for ttft",
		"ttft<=1s@0%":           `slo: position 10: expected a percentage above 0 and up to 100, got "0%"`,
		"ttft<=1s@101%":         `slo: position 10: expected a percentage above 0 and up to 100, got "101%"`,
		"ttft<=1s@99":           `slo: position 12: expected % after 99, got ""`,
		"mlperf-llama2":         "slo: position 1: expected a metric (",
		"ttft<=1s@99% tpot<=2s": `slo: position 14: expected a comma or the end, got "tpot<=2s"`,
	} {
		if _, err := ParseSLO(text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

// TestPresets checks the figures of metrics.md 3.1: ttft and tpot in milliseconds.
func TestPresets(t *testing.T) {
	want := map[string][2]int64{"guidellm-chat": {200, 50}, "mlperf-llama2-70b-conversational": {2000, 200}, "mlperf-llama2-70b-interactive": {450, 40},
		"mlperf-llama3.1-8b": {2000, 100}, "mlperf-llama3.1-8b-interactive": {500, 30}, "mlperf-llama3.1-405b": {6000, 175},
		"mlperf-llama3.1-405b-interactive": {4500, 80}, "mlperf-mixtral": {2000, 200}, "mlperf-deepseek-r1": {2000, 80},
		"mlperf-deepseek-r1-interactive": {1500, 15}, "mlperf-gpt-oss-120b": {3000, 80}, "mlperf-gpt-oss-120b-interactive": {2000, 20}}
	for name, ms := range want {
		s, err := ParseSLO(name)
		if err != nil || len(s.Terms) != 2 || s.Terms[0].Bound != ms[0]*1000 || s.Terms[1].Bound != ms[1]*1000 {
			t.Errorf("%s: %+v, %v; want %d and %d ms", name, s, err, ms[0], ms[1])
		}
	}
	if len(Presets()) != len(want) {
		t.Errorf("%d presets, want %d", len(Presets()), len(want))
	}
}

// FuzzParseSLO: no text makes it panic, and what it takes holds the rules of the grammar.
func FuzzParseSLO(f *testing.F) {
	for _, s := range []string{"ttft<=450ms,tpot<=40ms@99%", "guidellm-chat", "e2e <= 1.5 s @ 99.9 %", "ttft<=1s@99%,tpot<=60ms@95%", "max_gap<="} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSLO(text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "slo: position ") {
				t.Errorf("error without a position: %v", err)
			}
			return
		}
		if len(s.Params()) != len(s.Terms) || len(s.Terms) == 0 || s.Objective <= 0 || s.Objective > 1 {
			t.Errorf("%q: %+v", text, s)
		}
		for _, term := range s.Terms {
			if term.Bound < 1 || term.Bound > maxBound || term.Objective < s.Objective || term.Objective > 1 {
				t.Errorf("%q: %+v", text, term)
			}
		}
		if again, err := ParseSLO(s.Text); err != nil || gocmp.Diff(s, again) != "" {
			t.Errorf("%q is not %q: %v", s.Text, text, err)
		}
	})
}
