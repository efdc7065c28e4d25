package analyze

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"

	"reprise/ingest/trace"
)

// readRecords reads a file of records as JSON lines, whose keys are the Parquet column names.
func readRecords(t *testing.T, path string) []trace.Request {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<20)
	var out []trace.Request
	for lines.Scan() {
		r := trace.Request{ClockDomain: trace.Wall, TimePrecision: 1, SourceFormat: "test", SourceLine: int64(len(out) + 1)}
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(lines.Bytes(), &fields); err != nil {
			t.Fatal(err)
		}
		for name, raw := range fields {
			setJSON(t, &r, name, raw)
		}
		trace.Check(&r)
		out = append(out, r)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

func setJSON(t *testing.T, r *trace.Request, name string, raw json.RawMessage) {
	t.Helper()
	v := reflect.ValueOf(r).Elem()
	for i := range v.NumField() {
		if column, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("parquet"), ","); column == name {
			if err := json.Unmarshal(raw, v.Field(i).Addr().Interface()); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatalf("no field %q", name)
}

// The two runs of testdata/compare: llama.cpp with prompt batches of 512, then of 64, under the same plan. The figures
// were computed apart from this program, with numpy from the client's own chunk times: base, candidate (milliseconds)
// and the 95 % interval of the ratio by drawing whole sessions.
func TestRealAB(t *testing.T) {
	tr := newTrial(t, "ttft<=1s,max_gap<=250ms@99%")
	aa, candidate := readRecords(t, "../testdata/compare/aa.jsonl.gz"), readRecords(t, "../testdata/compare/candidate.jsonl.gz")
	c := tr.compare(tr.load(aa), tr.load(candidate), CompareOptions{Seed: 1})
	if !c.Comparable || c.Pairs != 376 || c.Paired.BothOK != 347 || c.Paired.OKToNot != 6 || c.Resample.Unit != "session" {
		t.Fatalf("why not %q, %d pairs %+v, %+v", c.WhyNot, c.Pairs, c.Paired, c.Resample)
	}
	for _, w := range []struct {
		metric     string
		p          float64
		n          int
		base, cand float64
		low, high  float64
		verdict    string
	}{
		{"ttft", .5, 312, 178.649, 910.444, 1.953, 13.654, Worse},
		{"ttft", .95, 312, 2975.428, 10005.912, 2.258, 4.789, Worse},
		{"ttft", .99, 312, 4669.507, 12772.597, 2.194, 3.569, Worse},
		{"tpot", .5, 287, 6.879, 11.739, 1.251, 2.252, Worse},
		{"tpot", .95, 287, 37.103, 47.160, .926, 1.425, Inconclusive},
		{"tpot", .99, 287, 79.130, 67.062, .315, 1.353, Inconclusive},
		{"e2e", .5, 347, 625.976, 2052.168, 1.599, 6.093, Worse},
		{"e2e", .99, 347, 6915.115, 15079.495, 1.720, 2.797, Worse},
		{"max_gap", .95, 312, 405.466, 179.828, .364, .488, Better},
		{"chunk_gap", .5, 15726, 5.992, 8.734, 1.241, 1.680, Worse},
		{"chunk_gap", .95, 15726, 28.610, 87.420, 2.600, 3.481, Worse},
		{"chunk_gap", .99, 15726, 247.170, 114.676, .395, .550, Better},
	} {
		d := find(c, w.metric, w.p)
		if d.N != w.n || !within(d.Base, w.base, 1e-4) || !within(d.Cand, w.cand, 1e-4) || d.Verdict != w.verdict {
			t.Errorf("%s %v: n %d, %.3f -> %.3f %s; want %+v", w.metric, w.p, d.N, d.Base, d.Cand, d.Verdict, w)
		}
		if !within(d.CI[1], w.high, .2) || !within(d.CI[0], w.low, .2) && w.p != .99 {
			t.Errorf("%s %v: interval %v, want about [%v, %v]", w.metric, w.p, *d.CI, w.low, w.high)
		}
	}
	checkRealGaps(t, c)
	if b, n := c.Sides["base"], c.Sides["cand"]; !within(float64(*n.InputTokens), float64(*b.InputTokens), 1e-12) ||
		!within(float64(*n.OutputTokens), *c.Fidelity.OutputRatio*float64(*b.OutputTokens), 1e-12) {
		t.Errorf("tokens %+v, %+v: want the same input, and output in the ratio %v", b, n, *c.Fidelity.OutputRatio)
	}
	if c.Failures.Gained != 6 || c.Failures.Lost != 0 || c.SLO.Good.Verdict != Worse || c.Verdict != Worse {
		t.Errorf("failures %+v, attainment %+v, verdict %s", c.Failures, c.SLO.Good, c.Verdict)
	}
}

func within(got, want, tol float64) bool { return math.Abs(got-want) <= tol*want }

// Fewer gaps over 200 ms although more over 50: both with intervals that leave no doubt.
func checkRealGaps(t *testing.T, c *Comparison) {
	t.Helper()
	want := []CountDelta{{Over: 50, Base: 483, Cand: 2042, DiffCI: [2]float64{1180, 1968}, Verdict: Worse},
		{Over: 100, Base: 277, Cand: 422, DiffCI: [2]float64{53, 252}, Verdict: Worse},
		{Over: 200, Base: 212, Cand: 10, DiffCI: [2]float64{-262, -148}, Verdict: Better},
		{Over: 400, Base: 26, Cand: 3, DiffCI: [2]float64{-37, -10}, Verdict: Better}}
	for i, w := range want {
		g := c.LongGaps[i]
		if g.Over != w.Over || g.Base != w.Base || g.Cand != w.Cand || g.Verdict != w.Verdict {
			t.Errorf("got %+v, want %+v", g, w)
		}
		if slack := .1 * (w.DiffCI[1] - w.DiffCI[0]); math.Abs(g.DiffCI[0]-w.DiffCI[0]) > slack || math.Abs(g.DiffCI[1]-w.DiffCI[1]) > slack {
			t.Errorf("over %v ms: interval %v, want about %v", g.Over, g.DiffCI, w.DiffCI)
		}
	}
}
