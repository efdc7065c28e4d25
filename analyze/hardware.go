package analyze

import (
	"bytes"
	_ "embed"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

//go:embed gpus.yaml
var gpusText []byte

// Hardware is what a replica runs on and which model it serves, as parameters of queries by name: gpu_flops, gpu_bandwidth
// (bytes/s), gpu_memory (bytes) of one GPU, gpus_per_replica, price_gpu_hour; weight_bytes, active_params, layers, kv_heads,
// head_dim, kv_dtype_bytes of the model. What is not known is not in it. The zero value knows nothing.
type Hardware map[string]float64

// gpuFigures are those of a shipped entry.
type gpuFigures struct {
	PeakFlops       *float64 `yaml:"peak_flops"`
	MemoryBandwidth *float64 `yaml:"memory_bandwidth"`
	MemoryBytes     *float64 `yaml:"memory_bytes"`
	Source          string
}

type hardwareFile struct {
	GPU            string
	gpuFigures     `yaml:",inline"` // instead of, or over, those of GPU
	GPUsPerReplica *float64         `yaml:"gpus_per_replica"`
	PriceGPUHour   *float64         `yaml:"price_gpu_hour"`
	Model          struct {
		Name         string
		WeightBytes  *float64 `yaml:"weight_bytes"`
		ActiveParams *float64 `yaml:"active_params"`
		Layers       *float64
		KVHeads      *float64 `yaml:"kv_heads"`
		HeadDim      *float64 `yaml:"head_dim"`
		KVDtypeBytes *float64 `yaml:"kv_dtype_bytes"`
	}
}

// GPUs are the names of the shipped entries, in order.
func GPUs() []string {
	gpus, err := shippedGPUs()
	if err != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(gpus))
}

func shippedGPUs() (map[string]gpuFigures, error) {
	var gpus map[string]gpuFigures
	d := yaml.NewDecoder(bytes.NewReader(gpusText))
	d.KnownFields(true)
	return gpus, d.Decode(&gpus)
}

// LoadHardware reads a YAML file; every line may be left out, and what needs it is unknown then:
//
//	gpu: H100 SXM              # a shipped entry (see GPUs), or the figures of one GPU:
//	peak_flops: 989e12         # FLOP/s, dense, in the precision that is served
//	memory_bandwidth: 3.35e12  # bytes/s
//	memory_bytes: 80e9
//	gpus_per_replica: 4
//	price_gpu_hour: 2.87       # dollars
//	model:
//	  weight_bytes: 140e9
//	  active_params: 70e9      # parameters that one token passes through
//	  layers: 80
//	  kv_heads: 8
//	  head_dim: 128
//	  kv_dtype_bytes: 2        # of one number in the KV cache
func LoadHardware(path string) (Hardware, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("hardware: %w", err)
	}
	h, err := parseHardware(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return h, nil
}

func parseHardware(text []byte) (Hardware, error) {
	var f hardwareFile
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&f); err != nil {
		return nil, fmt.Errorf("expected gpu, gpus_per_replica, price_gpu_hour and model: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	h := Hardware{}
	if f.GPU != "" {
		gpus, err := shippedGPUs()
		if err != nil {
			return nil, err
		}
		g, ok := gpus[f.GPU]
		if !ok {
			return nil, fmt.Errorf("no gpu %q; there are: %s; or give peak_flops, memory_bandwidth and memory_bytes", f.GPU, strings.Join(GPUs(), ", "))
		}
		h.setGPU(g)
	}
	h.setGPU(f.gpuFigures)
	h.set("gpus_per_replica", f.GPUsPerReplica)
	h.set("price_gpu_hour", f.PriceGPUHour)
	h.set("weight_bytes", f.Model.WeightBytes)
	h.set("active_params", f.Model.ActiveParams)
	h.set("layers", f.Model.Layers)
	h.set("kv_heads", f.Model.KVHeads)
	h.set("head_dim", f.Model.HeadDim)
	h.set("kv_dtype_bytes", f.Model.KVDtypeBytes)
	for _, name := range slices.Sorted(maps.Keys(h)) {
		if !(h[name] > 0 && h[name] < 1e18) {
			return nil, fmt.Errorf("expected a number above 0 for %s, got %v", name, h[name])
		}
	}
	return h, nil
}

func (h Hardware) setGPU(g gpuFigures) {
	h.set("gpu_flops", g.PeakFlops)
	h.set("gpu_bandwidth", g.MemoryBandwidth)
	h.set("gpu_memory", g.MemoryBytes)
}

func (h Hardware) set(name string, v *float64) {
	if v != nil {
		h[name] = *v
	}
}

// params are the figures as parameters of a query.
func (h Hardware) params() map[string]string {
	out := map[string]string{}
	for name, v := range h {
		out[name] = strconv.FormatFloat(v, 'g', -1, 64)
	}
	return out
}

// pictured are the queries that belong to the whole picture once the hardware is known.
func (h Hardware) pictured() []string {
	var names []string
	if _, priced := h["price_gpu_hour"]; priced {
		names = append(names, "cost")
	}
	if len(h) > 0 {
		names = append(names, "throughput_by_batch", "roofline")
	}
	return names
}

// hardwareWarnings say which figures of the hardware a result lacks, so that its columns are unknown.
func hardwareWarnings(res *Result) []Warning {
	var need []string
	switch res.Query {
	case "cost":
		need = []string{"price_gpu_hour"}
	case "roofline":
		need = []string{"gpu_flops", "gpu_bandwidth", "gpu_memory", "weight_bytes", "active_params", "layers", "kv_heads", "head_dim", "kv_dtype_bytes"}
	}
	need = slices.DeleteFunc(need, func(name string) bool { return res.Params[name] != "" })
	if len(need) == 0 {
		return res.beyondPeak()
	}
	return []Warning{{"hardware_unknown", strings.Join(need, ", ") + " not given, so what needs them is unknown: --hardware FILE.yaml, or --param"}}
}

// beyondPeak warns of use above the peak of the hardware: it, the model or the replicas are not what was said.
func (res *Result) beyondPeak() []Warning {
	for i, c := range res.Columns {
		above := func(row []any) bool { v, ok := row[i].(float64); return ok && v > 1 }
		if (strings.HasPrefix(c.Name, "mbu") || strings.HasPrefix(c.Name, "mfu")) && slices.ContainsFunc(res.Rows, above) {
			return []Warning{{"hardware_implausible", c.Name + " is above 100 %: the log's replicas are more, or the model smaller, than was said of the hardware"}}
		}
	}
	return nil
}
