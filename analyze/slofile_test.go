package analyze

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/ingest/trace"
)

// Each request is held to the first section that fits it: acme's own bound, else its model's, else the default.
func TestSLOFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "slo.yaml")
	text := `default: ttft<=1s,e2e<=10s@90%
sections:
  - {tenant: acme, model: big, slo: "ttft<=100ms"}
  - {tenant: acme, slo: "ttft<=200ms"}
  - model: "o'big"
    slo: ttft<=300ms+1ms*in
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	slo, err := LoadSLO(path)
	if err != nil || slo.Objective != .9 || slo.Text != path {
		t.Fatal(slo, err)
	}
	call := func(tenant, model string, firstMS int64) trace.Request {
		return trace.Request{RequestID: tenant + model, RootRequestID: tenant + model, Attempt: 1, Arrival: new(int64(0)), Vantage: "client", ClockDomain: "wall",
			ErrorClass: "ok", Stream: new(true), FirstUS: new(firstMS * 1000), EndUS: new(int64(2_000_000)), InputTokens: new(int64(50)), Tenant: tenant, ModelRequested: model}
	}
	unsized := func(r trace.Request) trace.Request { // only a bound that grows with the prompt asks how long it was
		r.InputTokens = nil
		return r
	}
	run := writeRun(t, []trace.Request{unsized(call("acme", "tiny", 101)), unsized(call("d", "o'big", 250)), call("acme", "big", 101), call("acme", "small", 101), call("acme", "", 201), call("b", "o'big", 350), call("c", "o'big", 351),
		call("b", "big", 1000), call("", "", 1001)})
	e := newEngine(t)
	res, err := e.SQL(t.Context(), run, Scope{SLO: slo}, "SELECT request_id, verdict, asked FROM judged ORDER BY request_id")
	if err != nil {
		t.Fatal(err)
	}
	want := " bad 9 / acme bad 1 / acmebig bad 1 / acmesmall good 1 / acmetiny good 1 / bbig good 9 / bo'big good 1 / co'big bad 1 / do'big unevaluable 1"
	if got := rowText(res.Rows); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	// a term's own attainment is over those that it was set for
	res, err = e.Query(t.Context(), run, "goodput", Scope{SLO: slo}, nil)
	if err != nil {
		t.Fatal(err)
	}
	row := map[string]any{}
	for i, c := range res.Columns {
		row[c.Name] = res.Rows[0][i]
	}
	if row["good"] != int64(4) || row["bad"] != int64(4) || row["ttft_attainment"] != 4./8 || row["e2e_attainment"] != 1. || row["tpot_attainment"] != nil {
		t.Errorf("%v", row)
	}
}

func TestSLOFileErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                    "f.yaml: expected default and sections",
		"defalt: ttft<=1s":                    "f.yaml: expected default and sections of tenant, model and slo: unmarshal errors:\n  line 1: field defalt not found",
		"default: ttft<1s":                    "f.yaml: default: slo: position 5: expected <=",
		"sections: []":                        "f.yaml: expected a default or a section",
		"sections:\n  - {slo: ttft<=1s}":      "f.yaml:2: expected the tenant or the model",
		"sections:\n  - {model: m, slo: x<1}": "f.yaml:2: slo: position 1: expected a metric",
		"sections:\n  - {model: m, slo: ttft<=1s@95%}": "f.yaml:2: expected the objective (@) in the default",
	} {
		if _, err := parseSLOFile("f.yaml", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}
