package analyze

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"reprise/ingest/trace"
)

// bins of ten seconds with 100 requests each; bad gives the bad ones.
func bins(bad ...int64) (rows []incidentBinRow) {
	for i, b := range bad {
		rows = append(rows, incidentBinRow{start: int64(i) * 10, eligible: 100, bad: b})
	}
	return rows
}

func TestIncidentWindows(t *testing.T) {
	for name, c := range map[string]struct {
		rows []incidentBinRow
		want [][2]int64
	}{
		"quiet: one percent is allowed":         {bins(1, 0, 2, 1, 0, 3, 1, 0), nil},
		"one window":                            {bins(0, 1, 0, 40, 50, 30, 0, 1, 0, 0), [][2]int64{{30, 60}}},
		"a gap of two bins is bridged":          {bins(0, 0, 40, 0, 0, 40, 0, 0, 0, 0, 0), [][2]int64{{20, 60}}},
		"a gap of three is not":                 {bins(0, 0, 40, 0, 0, 0, 40, 0, 0, 0, 0), [][2]int64{{20, 30}, {60, 70}}},
		"a run that always misses has no onset": {bins(30, 32, 28, 31, 30, 29), nil},
		"no rows":                               {nil, nil},
	} {
		got := incidentWindows(c.rows, 10, 0.01)
		if len(got) != len(c.want) {
			t.Errorf("%s: got %+v, want %v", name, got, c.want)
			continue
		}
		for i, w := range c.want {
			if got[i].From != w[0] || got[i].To != w[1] {
				t.Errorf("%s: got [%d, %d), want %v", name, got[i].From, got[i].To, w)
			}
		}
	}
}

// 4 quiet bins of 12: the better half holds 2 bad ones, 160 of 600 bad; outside of the incident 1 of 400 is.
func TestIncidentOfMostOfTheLog(t *testing.T) {
	got := incidentWindows(bins(0, 1, 0, 0, 80, 80, 80, 80, 80, 80, 80, 80), 10, 0.01)
	if len(got) != 1 || got[0].From != 40 || got[0].To != 120 || got[0].Bad != 640 || got[0].Expected != 0.01 {
		t.Errorf("%+v, want one from 40 to 120 where 1 %% is expected", got)
	}
}

func TestIncidentCause(t *testing.T) {
	all := load{dimension: "all", rateBase: 1, rate: 1.5, prefillBase: 100, prefill: 900, meanBase: 100, mean: 600, cachedBase: .7, cached: .6}
	for name, c := range map[string]struct {
		in          Incident
		rows        []load
		cause, text string
		tenant      string
	}{
		"long prompts of one": {Incident{Bad: 10}, []load{all, {dimension: "tenant", name: "acme", prefillBase: 10, prefill: 800, meanBase: 50, mean: 1500, share: .9}},
			"long_prompts", "1500 uncached tokens a request instead of 50", "acme"},
		"failures":     {Incident{Bad: 10, Failed: 8}, []load{all}, "failures", "8 of 10", ""},
		"same load":    {Incident{Bad: 10}, []load{{dimension: "all", prefillBase: 100, prefill: 110}}, "unexplained", "110 instead of 100", ""},
		"unknown load": {Incident{Bad: 10}, []load{{dimension: "all", rateBase: 1, rate: 5, untold: true}}, "unexplained", "does not tell the load", ""},
		"more of them": {Incident{Bad: 10}, []load{{dimension: "all", rateBase: 1, rate: 5, prefillBase: 100, prefill: 500, meanBase: 100, mean: 100}}, "more_requests", "5.00/s instead of 1.00/s", ""},
		"cold cache":   {Incident{Bad: 10}, []load{{dimension: "all", rateBase: 1, rate: 1, prefillBase: 100, prefill: 400, meanBase: 100, mean: 400, cachedBase: .8, cached: .1}}, "cache_loss", "10 % of input tokens instead of 80 %", ""},
	} {
		in := c.in
		in.judge(c.rows)
		if in.Cause != c.cause || in.Tenant != c.tenant || !strings.Contains(in.Text, c.text) {
			t.Errorf("%s: got %s, %q, %q", name, in.Cause, in.Tenant, in.Text)
		}
	}
}

func TestNiceBin(t *testing.T) {
	for span, want := range map[int64]int64{0: 10_000_000, 540_000_000: 10_000_000, 3_600_000_000: 100_000_000, 86_400_000_000: 2_000_000_000} {
		if got := niceBin(span, 60, 10_000_000); got != want {
			t.Errorf("span %d: got %d, want %d", span, got, want)
		}
	}
}

func TestOnset(t *testing.T) {
	outside := []float64{10, 12, 8, 11, 9, 10, 10, 13, 7}
	for name, c := range map[string]struct {
		loads []float64
		want  int
	}{
		"grows in the fourth bin":    {[]float64{10, 9, 10, 40, 60, 80}, 3},
		"an old excursion died away": {[]float64{60, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10, 50, 70}, 19},
		"nothing grows":              {[]float64{10, 11, 9, 10}, -1},
	} {
		if got := onsetBin(c.loads, append([]float64(nil), outside...)); got != c.want {
			t.Errorf("%s: got %d, want %d", name, got, c.want)
		}
	}
}

// One replica of three turns slow for a minute at the same load: it is named. When all turn slow, none is.
func TestIncidentNamesTheReplica(t *testing.T) {
	e := newEngine(t)
	rng := rand.New(rand.NewPCG(11, 12))
	for name, c := range map[string]struct {
		slow        []string
		cause, text string
	}{
		"one": {[]string{"r7"}, "one_replica", "replica r7 was hit alone"},
		"all": {[]string{"r7", "r8", "r9"}, "unexplained", "the load was not larger than outside"},
	} {
		var rows []trace.Request
		for i := range 3000 {
			at, replica := int64(i)*200_000, []string{"r7", "r8", "r9"}[rng.IntN(3)]
			first := int64(100_000 + rng.IntN(300_000))
			if at >= 300_000_000 && at < 360_000_000 && slices.Contains(c.slow, replica) {
				first += 900_000
			}
			rows = append(rows, trace.Request{RequestID: fmt.Sprint(i), RootRequestID: fmt.Sprint(i), Attempt: 1, Arrival: &at, Vantage: "gateway", ClockDomain: "wall", ErrorClass: "ok",
				Stream: new(true), FirstUS: &first, EndUS: new(first + 500_000), InputTokens: new(int64(500)), CachedInputTokens: new(int64(0)), Replica: replica,
				Tenant: []string{"a", "b", "c", "d"}[rng.IntN(4)], ModelRequested: "m"})
		}
		slo, _ := ParseSLO("ttft<=1s@99%")
		found, err := e.Incidents(t.Context(), writeRun(t, rows), Scope{SLO: slo})
		if err != nil || len(found) != 1 {
			t.Fatalf("%s: %+v %v", name, found, err)
		}
		in := found[0]
		if in.Cause != c.cause || !strings.HasPrefix(in.Text, c.text) || in.From != 300_000_000 || in.To != 360_000_000 {
			t.Errorf("%s: %s %q %d to %d", name, in.Cause, in.Text, in.From, in.To)
		}
	}
}

// The window that somebody names is explained like the one that is found, and the parts agree.
func TestInvestigate(t *testing.T) {
	e := newEngine(t)
	run := ingested(t, "../testdata/truth/baseline.jsonl.gz")
	sc := Scope{SLO: func() SLO { s, _ := ParseSLO("ttft<=1s@99%"); return s }()}
	found, err := e.Investigate(t.Context(), run, sc, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	named, err := e.Investigate(t.Context(), run, sc, found.From, found.To)
	if err != nil {
		t.Fatal(err)
	}
	if found.Tenant != "borealis" || named.Bad != found.Bad || named.Eligible != found.Eligible || named.Text != found.Text || named.Others != nil || found.Budget == nil {
		t.Errorf("found %+v\nnamed %+v", found.Incident, named.Incident)
	}
	hit := found.Hit.Rows[0] // all
	if hit[0] != "all" || hit[2] != found.Eligible || hit[3] != found.Bad {
		t.Errorf("who was hit speaks of %v of %v, the incident of %d of %d", hit[3], hit[2], found.Bad, found.Eligible)
	}
	if _, err := e.Investigate(t.Context(), run, Scope{SLO: func() SLO { s, _ := ParseSLO("ttft<=1h"); return s }()}, 0, 0); !errors.Is(err, ErrNoIncident) {
		t.Errorf("a quiet run: %v", err)
	}
}
