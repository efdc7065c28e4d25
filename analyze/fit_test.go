package analyze

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"reprise/ingest/trace"
)

// metrics.md EX-7.1: the prompt of 4000 tokens waited 500 ms. Each point six times, since a fit needs 30.
func TestAloneEX71(t *testing.T) {
	var prompts []prompt
	for range 6 {
		prompts = append(prompts, prompt{100, 30e3}, prompt{500, 70e3}, prompt{1000, 120e3}, prompt{2000, 220e3}, prompt{4000, 920e3})
	}
	a, b, ok := alone(prompts)
	if !ok || !near(a, 20e3) || !near(b, 100) {
		t.Errorf("a %v us, b %v us a token, %v; want 20 ms, .1 ms", a, b, ok)
	}
	if _, _, ok := alone(prompts[:29]); ok {
		t.Error("fitted 29 prompts")
	}
}

// A thousand short prompts whose first token hides the slope must not outvote three long ones.
func TestAloneWeighsOctavesAlike(t *testing.T) {
	var prompts []prompt
	for i := range 1000 {
		prompts = append(prompts, prompt{16 + float64(i%16), 50e3})
	}
	if _, _, ok := alone(prompts); ok {
		t.Error("fitted prompts that differ less than 4 times")
	}
	prompts = append(prompts, prompt{1024, 550e3}, prompt{2048, 1050e3}, prompt{4096, 2050e3})
	if _, b, ok := alone(prompts); !ok || math.Abs(b-490) > 10 {
		t.Errorf("b %v us a token, want about 490 as between the long ones", b)
	}
}

// The plane is known; a tenth of the streams are wild.
func TestPaceFindsThePlane(t *testing.T) {
	var streams []stream
	for i := range 200 {
		tokens, others := float64(i%10*3), float64(i%7)
		s := stream{stepUS: 8000 + 100*tokens + 500*others - 5*tokens*others, steps: 50, stepTokens: tokens, others: others, weight: 1}
		if i%10 == 3 {
			s.stepUS *= 3
		}
		streams = append(streams, s)
	}
	f := PrefillFit{AloneUS: 60, TokenUS: 60}
	if !f.pace(streams) || math.Abs(*f.PaceUS-100) > 1e-6 || math.Abs(*f.LoadUS+5) > 1e-6 {
		t.Fatalf("pace %v, load %v; want 100, -5", *f.PaceUS, *f.LoadUS)
	}
	if f.LoadedUS < 80 || f.LoadedUS > 90 || f.TokenUS != f.LoadedUS {
		t.Errorf("mean cost %v under load, token %v; want 85 (3 other streams on average) for both", f.LoadedUS, f.TokenUS)
	}
	none := PrefillFit{}
	if none.pace(streams[:29]) || none.PaceUS != nil {
		t.Error("fitted 29 streams")
	}
}

// quiet is n requests one after the other, first token = 20 ms + .1 ms a token, on one replica of model m.
func quiet(n int) []trace.Request {
	var out []trace.Request
	for i := range n {
		u := int64(50 << (i % 6))
		first := 20000 + 100*u
		out = append(out, trace.Request{RequestID: fmt.Sprint("q", i), Attempt: 1, Arrival: trace.Ptr(int64(1e15) + int64(i)*5e6), FirstUS: &first,
			LastUS: trace.Ptr(first + 380000), EndUS: trace.Ptr(first + 380000), TTFTKind: trace.TTFTContent, Vantage: trace.Gateway, ClockDomain: trace.Wall,
			TimePrecision: 1, ErrorClass: trace.ClassOK, Stream: trace.Ptr(true), ModelRequested: "m", Replica: "r", InputTokens: &u,
			CachedInputTokens: trace.Ptr(int64(0)), OutputTokens: trace.Ptr(int64(20)), SourceFormat: "test", SourceLine: int64(i + 1)})
	}
	return out
}

func TestPrefillOfAQuietRun(t *testing.T) {
	e := newEngine(t)
	p, err := e.Prefill(context.Background(), writeRun(t, quiet(60)))
	if err != nil || len(p.Fits) != 1 {
		t.Fatal(p, err)
	}
	f := p.Fits[0]
	if f.Model != "m" || math.Abs(f.AUS-20e3) > 1e-6 || math.Abs(f.AloneUS-100) > 1e-9 || f.Isolated != 60 || f.PaceUS != nil {
		t.Errorf("%+v", f)
	}
}

// Nobody is alone, each prompt has company from its arrival on, and waits 0 to 270 ms: the tenth that waits least tells the cost.
func TestPrefillOfABusyRun(t *testing.T) {
	var rows []trace.Request
	for i, r := range slices.Concat(quiet(150), quiet(150)) {
		first := *r.FirstUS + int64(i/6%10)*30000
		r.RequestID, r.Arrival, r.FirstUS, r.SourceLine = fmt.Sprint("b", i), trace.Ptr(*r.Arrival+int64(i/150)*1000), &first, int64(i+1)
		r.LastUS, r.EndUS = trace.Ptr(first+380000), trace.Ptr(first+380000)
		rows = append(rows, r)
	}
	e := newEngine(t)
	p, err := e.Prefill(context.Background(), writeRun(t, rows))
	if err != nil || len(p.Fits) != 1 {
		t.Fatal(p, err)
	}
	if f := p.Fits[0]; !f.Floor || f.Isolated != 0 || math.Abs(f.AloneUS-100) > 5 || f.AUS < 20e3 || f.AUS > 50e3 {
		t.Errorf("%+v; want 100 us a token, and 20 ms with little of the waits", f)
	}
	if !slices.ContainsFunc(p.Warnings, func(w Warning) bool { return w.Code == "few_isolated" && strings.Contains(w.Message, "quickest tenth") }) {
		t.Errorf("warnings %v", p.Warnings)
	}
}

// What a run cannot tell is said, and no figure is given.
func TestStallRefusals(t *testing.T) {
	e := newEngine(t)
	for _, c := range []struct {
		name   string
		change func(i int, r *trace.Request)
		rows   int
		codes  string
		says   string
	}{
		{"no replica", func(_ int, r *trace.Request) { r.Replica = "" }, 60, "no_replica", "no request names the engine instance"},
		{"half a replica", func(i int, r *trace.Request) {
			if i%2 == 0 {
				r.Replica = ""
			}
		}, 80, "replica_missing ends_only few_loaded", "40 of 80 requests name no replica"},
		{"no first tokens", func(i int, r *trace.Request) {
			if r.FirstUS, r.FirstVisibleUS = nil, nil; i%2 == 0 {
				r.Replica = ""
			}
		}, 80, "no_streams", "none of the 40 requests on a named replica tells when its first token came"},
		{"no cached counts", func(_ int, r *trace.Request) { r.CachedInputTokens = nil }, 60, "ends_only cached_unknown", `model "m": no request tells`},
		{"few isolated", func(int, *trace.Request) {}, 29, "ends_only few_isolated", "29 requests reached their first token alone"},
		{"nobody beside", func(int, *trace.Request) {}, 60, "ends_only few_loaded", "needs 30 streams of 10 tokens or more and 10 of them beside a prefill"},
	} {
		rows := quiet(c.rows)
		for i := range rows {
			c.change(i, &rows[i])
		}
		res, err := e.Query(context.Background(), writeRun(t, rows), "decode_stalls", Scope{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var codes, says []string
		for _, w := range res.Warnings {
			codes, says = append(codes, w.Code), append(says, w.Message)
		}
		if got := strings.Join(codes, " "); got != c.codes || !strings.Contains(strings.Join(says, "\n"), c.says) {
			t.Errorf("%s: warnings %s, want %s that say %q:\n%s", c.name, got, c.codes, c.says, strings.Join(says, "\n"))
		}
		for _, row := range cells(t, res, []string{"form", "lost_s"}) {
			if row[0] != "ends" || row[1] != nil {
				t.Errorf("%s: %v, want ends without a figure", c.name, row)
			}
		}
		if c.name == "no replica" && len(res.Rows) > 0 {
			t.Errorf("%s: rows %v", c.name, res.Rows)
		}
	}
}

// A query takes the fits that it is given, and else those of the run, which are found once.
func TestFitsAreGivenOrFound(t *testing.T) {
	e := newEngine(t)
	r := writeRun(t, quiet(60))
	res, err := e.Query(context.Background(), r, "stall_blame", Scope{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(res.Params["fits"], `"model":"m"`) {
		t.Errorf("parameters %v", res.Params)
	}
	res, err = e.Query(context.Background(), r, "stall_blame", Scope{}, map[string]string{"fits": "[]"})
	if err != nil {
		t.Fatal(err)
	}
	if res.Params["fits"] != "[]" || slices.ContainsFunc(res.Warnings, func(w Warning) bool { return w.Code == "few_loaded" }) {
		t.Errorf("parameters %v, warnings %v", res.Params, res.Warnings)
	}
}
