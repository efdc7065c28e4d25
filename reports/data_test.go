package reports

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"reprise/analyze"

	"github.com/google/go-cmp/cmp"
)

func smallResult() *analyze.Result {
	return &analyze.Result{Query: "q", Title: "T", Columns: cols(1, "z", "text", "start_us", "time", "a", "ms", "ok", "text", "list", "tokens"),
		Rows: [][]any{
			{"</script>\x1b", int64(1795392000000000), 0.1, true, []any{int64(1), nil, "x"}},
			{nil, nil, math.NaN(), nil, nil},
			{"a,\"b\"\n", int64(-1), math.Inf(1), false, []any{}},
		},
		Coverage: analyze.Coverage{Requests: 9, Eligible: 3}}
}

// The text is written by hand from cli.md: columns in their order (z before a), null for what cannot be given, a warning
// for it, and no null where a list or an object is promised.
func TestResultJSON(t *testing.T) {
	want := `{"query":"q","title":"T","params":{},"columns":[{"name":"z","unit":"text","better":"lower","key":true},` +
		`{"name":"start_us","unit":"time","better":"lower"},{"name":"a","unit":"ms","better":"lower"},` +
		`{"name":"ok","unit":"text","better":"lower"},{"name":"list","unit":"tokens","better":"lower"}],` +
		`"rows":[{"z":"</script>\u001b","start_us":1795392000000000,"a":0.1,"ok":true,"list":[1,null,"x"]},` +
		`{"z":null,"start_us":null,"a":null,"ok":null,"list":null},` +
		`{"z":"a,\"b\"\n","start_us":-1,"a":null,"ok":false,"list":[]}],` +
		`"warnings":[{"code":"not_finite","message":"2 values are infinite or undefined and are written as null"}],` +
		`"coverage":{"requests":9,"eligible":3,"excluded":{}}}` + "\n"
	var b bytes.Buffer
	if err := smallResult().Write(JSONWriter(&b)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
	if !json.Valid(b.Bytes()) {
		t.Error("not valid JSON")
	}
}

func TestResultCSV(t *testing.T) {
	var b bytes.Buffer
	if err := smallResult().Write(CSVWriter(&b)); err != nil {
		t.Fatal(err)
	}
	got, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{
		{"z", "start_us", "a", "ok", "list"},
		{"</script>\x1b", "1795392000000000", "0.1", "true", `[1,null,"x"]`},
		{"", "", "", "", ""},
		{"a,\"b\"\n", "-1", "", "false", "[]"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestWriteErrorsAreReturned(t *testing.T) {
	for name, write := range map[string]func() error{
		"json": func() error { return smallResult().Write(JSONWriter(closed{})) },
		"csv":  func() error { return smallResult().Write(CSVWriter(closed{})) },
		"text": func() error { return TableText(closed{}, smallResult(), TextOptions{}) },
		"all":  func() error { return WriteText(closed{}, everything(), TextOptions{}) },
		"html": func() error { return WriteHTML(closed{}, everything()) },
	} {
		if err := write(); err == nil || !strings.Contains(err.Error(), "closed") {
			t.Errorf("%s: error %v, want the writer's own", name, err)
		}
	}
}

type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, errClosed }

var errClosed = &json.UnsupportedValueError{Str: "closed"}

// A section without figures has a reason and null, never an empty result.
func TestReportJSON(t *testing.T) {
	r := Report{Title: "T", Answer: []string{"yes"}, Sections: []Section{section("errors", &analyze.Result{Query: "errors", Title: "E",
		Columns: cols(1, "c", "text"), Rows: [][]any{{"x"}}}, ""), section("latency", nil, "needs L1")}}
	want := `{"title":"T","subtitle":"","verdict":"","answer":["yes"],"figures":[],"notes":[],"sections":[{"id":"errors","title":"E","result":` +
		`{"query":"errors","title":"E","params":{},"columns":[{"name":"c","unit":"text","better":"lower","key":true}],"rows":[{"c":"x"}],"warnings":[],` +
		`"coverage":{"requests":0,"eligible":0,"excluded":{}}}},{"id":"latency","title":"Latency","missing":"needs L1","result":null}],"next":[],"facts":[]}` + "\n"
	var b bytes.Buffer
	if err := WriteJSON(&b, r); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}

// The group that the log does not name is null for programs; a tenant may call itself unknown. Other columns stay as they are.
func TestUnnamed(t *testing.T) {
	r := &analyze.Result{Columns: cols(1, "grp", "text", "model", "text"), Rows: [][]any{{"(unknown)", "(unknown)"}, {"unknown", nil}}}
	var asJSON, asCSV bytes.Buffer
	if err := errors.Join(r.Write(JSONWriter(&asJSON)), r.Write(CSVWriter(&asCSV))); err != nil {
		t.Fatal(err)
	}
	if want := `"rows":[{"grp":null,"model":"(unknown)"},{"grp":"unknown","model":null}]`; !strings.Contains(asJSON.String(), want) {
		t.Errorf("no %s in %s", want, &asJSON)
	}
	if diff := cmp.Diff("grp,model\n,(unknown)\nunknown,\n", asCSV.String()); diff != "" {
		t.Error(diff)
	}
}
