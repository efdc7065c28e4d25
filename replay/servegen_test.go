package replay

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func serveGenFolder(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func seconds(s int64) *int64 { us := s * 1e6; return &us }

// Each window has the requests its rate says, within it and of the lengths described; a draw hangs on seed, client and window alone.
func TestPlanServeGen(t *testing.T) {
	dir := serveGenFolder(t, map[string]string{
		"chunk-1-trace.csv":    "0,0.01,1.5,Gamma,0.4,3\n600,0,0,,0,0\n1200,0.005,0,,0,0\n21600,0.5,1,Weibull,0.8,1\n",
		"chunk-1-dataset.json": `{"0":{"input_tokens":"{100: 1.0}","output_tokens":"{7: 0.25, 9: 0.75}"},"21600":{"input_tokens":"{}","output_tokens":"{}"}}`,
		"chunk-2-trace.csv":    "0,0.02,1,Weibull,2,1\n",
		"chunk-2-dataset.json": `{"0":{"text_tokens":"{5: 1.0}","image_tokens":"{64: 1.0}","output_tokens":"{3: 1.0}"}}`,
		"chunk-3-trace.csv":    "600,0.01,1,Gamma,1,1\n",
	})
	if !IsServeGen(dir) || IsServeGen(t.TempDir()) {
		t.Error("folder not told from another")
	}
	plan := func(o PlanOptions) *Plan {
		t.Helper()
		p, err := PlanServeGen(dir, o)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	whole := plan(PlanOptions{Seed: 1})
	in := map[string]int{}
	for _, it := range whole.Items {
		in[fmt.Sprint(it.Tenant, " ", it.Arrival/600e6*600)]++
		if it.Tenant == "chunk-1" && (it.InputTokens != 100 || it.OutputTokens != 7 && it.OutputTokens != 9) || it.Tenant == "chunk-2" && (it.InputTokens != 5 || it.OutputTokens != 3) {
			t.Errorf("lengths of %+v", it)
		}
	}
	if diff := cmp.Diff(map[string]int{"chunk-1 0": 6, "chunk-1 1200": 3, "chunk-2 0": 12}, in); diff != "" || whole.Summary.LeftOut["no_lengths_described"] != 300+6 {
		t.Error(diff, whole.Summary.LeftOut)
	}
	if last := whole.Summary.Notices[len(whole.Summary.Notices)-1]; last.Code != "drawn" || !strings.Contains(last.Message, "clients (3), seed 1") {
		t.Errorf("notice %v", last)
	}
	if diff := cmp.Diff(whole.Items, plan(PlanOptions{Seed: 1}).Items); diff != "" {
		t.Error(diff)
	}
	part := plan(PlanOptions{Seed: 1, From: seconds(1200), To: seconds(1800)})
	if len(part.Items) != 3 || part.Items[0].Arrival != whole.Items[18].Arrival || part.Items[0].RequestID != whole.Items[18].RequestID {
		t.Errorf("a part differs from the whole: %v", part.Items)
	}
	if cmp.Equal(whole.Items, plan(PlanOptions{Seed: 2}).Items) {
		t.Error("another seed draws the same")
	}
}

// The variation of Weibull gaps of shape k is sqrt(G(1+2/k)/G(1+1/k)^2 - 1): 2.236 of .5; of Gamma 1/sqrt(k): 2 of .25; without a law 1.
// Of 30,000 draws three quarters are 9 tokens long, and lengths know nothing of each other.
func TestServeGenLaws(t *testing.T) {
	for law, want := range map[string]float64{"Weibull,0.5,1": math.Sqrt(24./4 - 1), "Gamma,0.25,9": 2, ",0,0": 1} {
		p, err := PlanServeGen(serveGenFolder(t, map[string]string{"chunk-1-trace.csv": "0,50,1," + law + "\n",
			"chunk-1-dataset.json": `{"0":{"input_tokens":"{7: 1, 9: 3}","output_tokens":"{7: 0.25, 8: 0, 9: 0.75}"}}`}), PlanOptions{Seed: 3})
		if err != nil || len(p.Items) != 30000 {
			t.Fatal(len(p.Items), err)
		}
		var sum, squares, long, both float64
		for i, it := range p.Items {
			if i > 0 {
				gap := float64(it.Arrival - p.Items[i-1].Arrival)
				sum, squares = sum+gap, squares+gap*gap
			}
			if it.OutputTokens == 9 {
				if long++; it.InputTokens == 9 {
					both++
				}
			}
		}
		n := float64(len(p.Items) - 1)
		if cv := math.Sqrt(squares/n/(sum/n*sum/n) - 1); math.Abs(cv/want-1) > .04 {
			t.Errorf("%s: variation %.3f, want %.3f", law, cv, want)
		}
		if math.Abs(long/30000-.75) > .015 || math.Abs(both/30000-.5625) > .015 {
			t.Errorf("%s: %v of 30,000 are long, %v both", law, long, both)
		}
	}
}

func TestServeGenErrors(t *testing.T) {
	const trace, lengths = "0,1,1,Gamma,1,1\n", `{"0":{"input_tokens":"{1: 1}","output_tokens":"{1: 1}"}}`
	for _, c := range [][3]string{
		{trace + "600,x,1,Gamma,1,1\n", lengths, `chunk-1-trace.csv:2: expected start, rate, variation, law, shape and scale, got "600,x,1,Gamma,1,1"`},
		{"0,1,1,Gamma,0,1\n", lengths, `chunk-1-trace.csv:1: expected Gamma or Weibull with a shape above 0, or no law, got "Gamma", "0"`},
		{"0,1\n", lengths, "expected six columns"},
		{"0,1e9,1,Gamma,1,1\n", lengths, "chunk-1-trace.csv:1: expected start"},
		{strings.Repeat("0,1000,1,Gamma,1,1\n", 2), lengths, "its clients send 1200000: narrow the time"},
		{trace, `{"0":{"input_tokens":"{1: x}","output_tokens":"{}"}}`, `chunk-1-dataset.json: window 0: expected tokens: weight, got "1: x"`},
		{trace, `[]`, "expected distributions by window"},
		{trace, `{"a":{}}`, `expected the start of a window in seconds, got "a"`},
		{trace, `{}`, "nothing to send"},
	} {
		dir := serveGenFolder(t, map[string]string{"chunk-1-trace.csv": c[0], "chunk-1-dataset.json": c[1]})
		if _, err := PlanServeGen(dir, PlanOptions{}); err == nil || !strings.Contains(err.Error(), c[2]) {
			t.Errorf("got %v, want %s", err, c[2])
		}
	}
}

func FuzzServeGen(f *testing.F) {
	f.Add("{143: 0.0001, 148: 0.5}")
	f.Add("{}")
	f.Fuzz(func(t *testing.T, text string) {
		d, err := parseDistribution(text)
		if err != nil || len(d.tokens) == 0 {
			return
		}
		for i := range d.tokens {
			if i > 0 && (d.tokens[i] <= d.tokens[i-1] || d.upTo[i] < d.upTo[i-1]) {
				t.Errorf("%q: %v up to %v", text, d.tokens, d.upTo)
			}
		}
	})
}
