package replay

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"reprise/ingest/trace"
)

// Windows of ServeGen's descriptions in seconds: of arrivals, and of lengths. maxDrawn bounds a plan.
const (
	arrivalWindow = 600
	lengthWindow  = 21_600
	maxDrawn      = 1_000_000
)

// IsServeGen says whether path is a folder of ServeGen's descriptions of clients (chunk-N-trace.csv beside chunk-N-dataset.json).
func IsServeGen(path string) bool {
	files, err := filepath.Glob(filepath.Join(path, "chunk-*-trace.csv"))
	return err == nil && len(files) > 0
}

// PlanServeGen plans requests drawn from ServeGen's descriptions of clients (https://github.com/alibaba/ServeGen), seeded by o.Seed; o.From and
// o.To count from 1970, where the descriptions begin. In each window of 600 s a client sends as many requests as its rate says, its
// gaps those of a Gamma or Weibull law of the window's shape, stretched to fill it, as ServeGen's own generator has them. Lengths are drawn
// from the client's distributions, input and output apart, where that generator ties them: the descriptions tell only of each. Texts
// alone are sent: no images, audio or video. A request's tenant is its client. Errors: as [BuildPlan], and a description that cannot be read.
func PlanServeGen(dir string, o PlanOptions) (*Plan, error) {
	files, err := filepath.Glob(filepath.Join(dir, "chunk-*-trace.csv"))
	if err != nil {
		return nil, err
	}
	clients := make([]*client, len(files))
	n := 0
	for i, file := range files {
		if clients[i], err = readClient(file, &o); err != nil {
			return nil, err
		}
		for _, w := range clients[i].windows {
			n += w.n
		}
	}
	if n > maxDrawn {
		return nil, fmt.Errorf("%s: expected at most %d requests, its clients send %d: narrow the time, such as --from 1970-01-02T09:00Z --to 1970-01-02T10:00Z", dir, maxDrawn, n)
	}
	noLengths := n
	p, err := BuildPlan(func(yield func(trace.Request, error) bool) {
		for _, c := range clients {
			for _, w := range c.windows {
				for _, r := range c.draw(w, o.Seed) {
					noLengths--
					if !yield(r, nil) {
						return
					}
				}
			}
		}
	}, o)
	if err != nil {
		return nil, err
	}
	if noLengths > 0 {
		p.Summary.LeftOut["no_lengths_described"] = noLengths
	}
	p.Summary.Notices = append(p.Summary.Notices, Notice{"drawn", fmt.Sprintf("nobody sent these requests: they are drawn from ServeGen's descriptions of clients (%d), seed %d", len(files), o.Seed)})
	return p, nil
}

// client is one of ServeGen's: when it sends, and how long its prompts and answers are, by window.
type client struct {
	name          string
	windows       []window
	input, output map[int64]distribution // by start of the window in seconds
}

type window struct {
	start int64 // seconds
	n     int   // requests
	gap   func(*rand.Rand) float64
}

// draw gives the requests of a window, none where no lengths are known. They depend on the seed, the client and the window alone.
func (c *client) draw(w window, seed uint64) []trace.Request {
	at := w.start - w.start%lengthWindow
	input, output := c.input[at], c.output[at]
	if len(input.tokens) == 0 || len(output.tokens) == 0 {
		return nil
	}
	h := fnv.New64a()
	fmt.Fprintf(h, "%s %d", c.name, w.start)
	rng := rand.New(rand.NewPCG(seed, h.Sum64()))
	ends, sum := make([]float64, w.n+1), 0.0
	for i := range ends {
		sum += w.gap(rng)
		ends[i] = sum
	}
	out := make([]trace.Request, w.n)
	for i := range out {
		us := w.start*1e6 + int64(ends[i]/sum*arrivalWindow*1e6)
		id := fmt.Sprintf("%s-%d-%d", c.name, w.start, i)
		out[i] = trace.Request{RequestID: id, RootRequestID: id, Attempt: 1, Tenant: c.name, Arrival: &us, ErrorClass: trace.ClassUnknown, SourceFormat: "servegen",
			InputTokens: trace.Ptr(input.draw(rng)), OutputTokens: trace.Ptr(output.draw(rng))}
	}
	return out
}

// readClient reads the two files of a client, its windows within the time asked for. One whose lengths are not there has none.
func readClient(file string, o *PlanOptions) (*client, error) {
	base := strings.TrimSuffix(file, "-trace.csv")
	c := &client{name: filepath.Base(base), input: map[int64]distribution{}, output: map[int64]distribution{}}
	if err := c.readWindows(file); err != nil {
		return nil, err
	}
	c.windows = slices.DeleteFunc(c.windows, func(w window) bool {
		return o.From != nil && (w.start+arrivalWindow)*1e6 <= *o.From || o.To != nil && w.start*1e6 >= *o.To
	})
	text, err := os.ReadFile(base + "-dataset.json")
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	} else if err != nil {
		return nil, err
	}
	var fields map[string]map[string]string
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, fmt.Errorf("%s-dataset.json: expected distributions by window: %w", base, err)
	}
	for key, texts := range fields {
		start, err := strconv.ParseInt(key, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%s-dataset.json: expected the start of a window in seconds, got %q", base, key)
		}
		prompt, ok := texts["input_tokens"]
		if !ok {
			prompt = texts["text_tokens"] // of several kinds of input
		}
		if c.input[start], err = parseDistribution(prompt); err == nil {
			c.output[start], err = parseDistribution(texts["output_tokens"])
		}
		if err != nil {
			return nil, fmt.Errorf("%s-dataset.json: window %s: %w", base, key, err)
		}
	}
	return c, nil
}

// readWindows reads rows of start, requests a second, their variation, Gamma or Weibull or nothing, shape, scale.
func (c *client) readWindows(file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	rows := csv.NewReader(f)
	rows.FieldsPerRecord = 6
	for line := 1; ; line++ {
		row, err := rows.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: expected six columns: %w", file, err)
		}
		start, err1 := strconv.ParseInt(row[0], 10, 64)
		rate, err2 := strconv.ParseFloat(row[1], 64)
		shape, err3 := strconv.ParseFloat(row[4], 64)
		n := math.Round(rate * arrivalWindow)
		if err := errors.Join(err1, err2, err3); err != nil || !(n >= 0 && n <= maxDrawn) || start < 0 || start > math.MaxInt32 {
			return fmt.Errorf("%s:%d: expected start, rate, variation, law, shape and scale, got %q", file, line, strings.Join(row, ","))
		}
		gap, ok := gapLaw(row[3], shape)
		if !ok {
			return fmt.Errorf("%s:%d: expected Gamma or Weibull with a shape above 0, or no law, got %q, %q", file, line, row[3], row[4])
		}
		if n > 0 {
			c.windows = append(c.windows, window{start, int(n), gap})
		}
	}
}

// gapLaw draws gaps of a law up to their scale; those of a window too sparse to have a law are Poisson's.
func gapLaw(name string, shape float64) (func(*rand.Rand) float64, bool) {
	switch {
	case name == "":
		return (*rand.Rand).ExpFloat64, true
	case !(shape > 0) || math.IsInf(shape, 0):
		return nil, false
	case name == "Gamma":
		return func(rng *rand.Rand) float64 { return gamma(rng, shape) }, true
	case name == "Weibull":
		return func(rng *rand.Rand) float64 { return math.Pow(rng.ExpFloat64(), 1/shape) }, true
	}
	return nil, false
}

// distribution holds counts of tokens in rising order, and the weight up to each.
type distribution struct {
	tokens []int64
	upTo   []float64
}

// parseDistribution reads a Python text {count: weight, ...}.
func parseDistribution(text string) (d distribution, err error) {
	inner := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(text), "{"), "}")
	weights := map[int64]float64{}
	for pair := range strings.SplitSeq(inner, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		count, weight, _ := strings.Cut(pair, ":")
		n, err1 := strconv.ParseInt(strings.TrimSpace(count), 10, 64)
		w, err2 := strconv.ParseFloat(strings.TrimSpace(weight), 64)
		if err1 != nil || err2 != nil || n < 0 || !(w >= 0) || math.IsInf(w, 0) {
			return d, fmt.Errorf("expected tokens: weight, got %q", pair)
		}
		weights[n] += w
	}
	sum := 0.0
	for _, n := range slices.Sorted(maps.Keys(weights)) {
		if sum += weights[n]; weights[n] > 0 {
			d.tokens, d.upTo = append(d.tokens, n), append(d.upTo, sum)
		}
	}
	return d, nil
}

func (d distribution) draw(rng *rand.Rand) int64 {
	x := rng.Float64() * d.upTo[len(d.upTo)-1]
	i, exact := slices.BinarySearch(d.upTo, x)
	if exact {
		i++
	}
	return d.tokens[min(i, len(d.tokens)-1)]
}
