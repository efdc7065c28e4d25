package analyze

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

const hardwareExample = `gpu: H100 SXM
peak_flops: 989e12 # over the entry's
gpus_per_replica: 4
price_gpu_hour: 2.87
model:
  name: llama
  weight_bytes: 140e9
  active_params: 70e9
  layers: 80
  kv_heads: 8
  head_dim: 128
  kv_dtype_bytes: 2
`

func TestLoadHardware(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hw.yaml")
	if err := os.WriteFile(path, []byte(hardwareExample), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := LoadHardware(path)
	if err != nil {
		t.Fatal(err)
	}
	want := Hardware{"gpu_flops": 989e12, "gpu_bandwidth": 3.35e12, "gpu_memory": 80e9, "gpus_per_replica": 4, "price_gpu_hour": 2.87,
		"weight_bytes": 140e9, "active_params": 70e9, "layers": 80, "kv_heads": 8, "head_dim": 128, "kv_dtype_bytes": 2}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for text, want := range map[string]string{
		"gpu: H100":               `no gpu "H100"; there are: A100, B200, H100 SXM, H200, L40S, MI300X; or give`,
		"price_gpu_hour: 0":       "expected a number above 0 for price_gpu_hour, got 0",
		"price_gpu_hour: -.inf":   "expected a number above 0 for price_gpu_hour",
		"model: {layers: .nan}":   "expected a number above 0 for layers",
		"price: 3":                "expected gpu, gpus_per_replica, price_gpu_hour and model: unmarshal errors",
		"memory_bytes: 80GB":      "expected gpu, gpus_per_replica",
		"model: {weights: 140e9}": "expected gpu, gpus_per_replica",
		"":                        "expected gpu, gpus_per_replica",
	} {
		if _, err := parseHardware([]byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

// TestShippedGPUs: each entry is whole and names its source; the ridge of a 16-bit product lies where the vendors' figures put it (EX-7.2: 295 for an H100).
func TestShippedGPUs(t *testing.T) {
	gpus, err := shippedGPUs()
	if err != nil {
		t.Fatal(err)
	}
	for name, ridge := range map[string]float64{"H100 SXM": 295, "H200": 206, "B200": 281, "MI300X": 247, "A100": 153, "L40S": 419} {
		g := gpus[name]
		if g.PeakFlops == nil || g.MemoryBandwidth == nil || g.MemoryBytes == nil || !strings.Contains(g.Source, "data sheet") {
			t.Errorf("%s: incomplete: %+v", name, g)
		} else if got := *g.PeakFlops / *g.MemoryBandwidth; got < ridge-1 || got > ridge+1 {
			t.Errorf("%s: ridge %.0f, want %.0f", name, got, ridge)
		}
	}
	if len(gpus) != 6 {
		t.Errorf("%d entries, want 6", len(gpus))
	}
}

// TestHardwareInQueries: a file fills in what params leave open, and what is missing is said.
func TestHardwareInQueries(t *testing.T) {
	hw, err := parseHardware([]byte(hardwareExample))
	if err != nil {
		t.Fatal(err)
	}
	e := newEngine(t)
	run := writeRun(t, fullRequests(3))
	for _, c := range []struct {
		query  string
		scope  Scope
		params map[string]string
		price  string
		warned string
	}{
		{"roofline", Scope{Hardware: hw}, nil, "", ""},
		{"roofline", Scope{}, map[string]string{"gpu_flops": "1e15"}, "", "gpu_bandwidth, gpu_memory, weight_bytes, active_params, layers"},
		{"roofline", Scope{Hardware: hw}, map[string]string{"gpu_bandwidth": "1e9"}, "", "mbu is above 100 %"},
		{"cost", Scope{Hardware: hw, SLO: anySLO(t)}, nil, "2.87", ""},
		{"cost", Scope{Hardware: hw, SLO: anySLO(t)}, map[string]string{"price_gpu_hour": "3"}, "3", ""},
		{"cost", Scope{SLO: anySLO(t)}, nil, "", "price_gpu_hour not given"},
		{"cost", Scope{Hardware: hw}, nil, "2.87", "no objective was given"},
		{"throughput_by_batch", Scope{Hardware: hw}, nil, "2.87", ""},
	} {
		res, err := e.Query(t.Context(), run, c.query, c.scope, c.params)
		if err != nil {
			t.Fatal(err)
		}
		if c.price != res.Params["price_gpu_hour"] {
			t.Errorf("%s: price %q, want %q", c.query, res.Params["price_gpu_hour"], c.price)
		}
		var said []string
		for _, w := range res.Warnings {
			if strings.HasPrefix(w.Code, "hardware_") || w.Code == "no_slo" {
				said = append(said, w.Message)
			}
		}
		if got := strings.Join(said, " "); !strings.HasPrefix(got, c.warned) || (c.warned == "") != (got == "") {
			t.Errorf("%s %v: warned %q, want %q", c.query, c.params, got, c.warned)
		}
	}
}

// FuzzHardware: a file gives numbers above 0 or an error.
func FuzzHardware(f *testing.F) {
	f.Add([]byte(hardwareExample))
	f.Add([]byte("gpu: [1]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		h, err := parseHardware(text)
		for name, v := range h {
			if err == nil && !(v > 0) {
				t.Errorf("%s is %v", name, v)
			}
		}
	})
}
