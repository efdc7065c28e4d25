package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"reprise/ingest/trace"
	"reprise/replay/wire"
)

// PreflightError says that the target does not answer as it must, before any load was sent.
type PreflightError struct {
	Target, Model       string
	Class, Reason, Code string
	Status              int
	Served              []string // models that the target lists; only looked up where it does not know Model
}

func (e *PreflightError) Error() string {
	code := ""
	if e.Code != "" && e.Code != strconv.Itoa(e.Status) {
		code = fmt.Sprintf(" (%s)", e.Code)
	}
	switch {
	case e.Status == 401 || e.Status == 403:
		return fmt.Sprintf("preflight: %s refuses the key: HTTP %d%s", e.Target, e.Status, code)
	case e.Status == 404:
		return fmt.Sprintf("preflight: %s knows no model %q or no such path: HTTP 404%s", e.Target, e.Model, code)
	case e.Status == 400 || e.Status == 422:
		return fmt.Sprintf("preflight: %s does not accept the request for model %q: HTTP %d%s", e.Target, e.Model, e.Status, code)
	case e.Class == wire.ClassNetwork:
		return fmt.Sprintf("preflight: cannot reach %s: %s", e.Target, e.Reason)
	case e.Class == wire.ClassTimeout:
		return fmt.Sprintf("preflight: no answer from %s in time: %s", e.Target, e.Reason)
	case e.Status/100 == 2:
		return fmt.Sprintf("preflight: the answer of %s is not usable: %s%s", e.Target, e.Reason, code)
	}
	return fmt.Sprintf("preflight: %s answers HTTP %d%s", e.Target, e.Status, code)
}

// Hint says what to try.
func (e *PreflightError) Hint() string {
	switch {
	case e.Status == 401 || e.Status == 403:
		return "name the variable that holds the key with --api-key-env"
	case e.Status == 404 && len(e.Served) > 0 && !slices.Contains(e.Served, e.Model):
		return fmt.Sprintf("the target serves %s: --model %[2]s, or --model-map %[3]s=%[2]s where several models were asked", strings.Join(e.Served, ", "), e.Served[0], e.Model)
	case e.Status == 404:
		return "name the target's model with --model or --model-map, and check that the address ends in /v1 or its parent; --endpoint chat sends everything to chat completions"
	case e.Status == 400 || e.Status == 422:
		return "the target may not know max_tokens, min_tokens or ignore_eos: try --lengths natural"
	case e.Class == wire.ClassNetwork && e.Reason == "tls":
		return "the certificate is not trusted here, or the port does not speak TLS"
	case e.Class == wire.ClassNetwork:
		return "is the server up, and the address right?"
	case e.Status == 429 || e.Status >= 500:
		return "the target is busy or broken now: try again, or send the load all the same with --no-preflight"
	}
	return ""
}

// Lengths of the calibration prompts in words. Two lengths give what a word and what the template costs.
const (
	probeShort = 32
	probeLong  = 544
	probeOut   = 2
)

// probePause is between two probes: a server that closes its connections behind each answer does so by then, and is known for it.
const probePause = 20 * time.Millisecond

// probeShape is what the preflight tries each of: a target may refuse one and accept another (RPL-30).
type probeShape struct {
	model, endpoint, members string
	stream                   bool
}

// maxShapes bounds the preflight.
const maxShapes = 16

// preflight sends a request of each shape in the plan, from words of its own so that no cache is warmed for the trace, and
// measures how the target counts. A model it does not know, a wrong key, a server that is not there end here.
func (r *run) preflight(ctx context.Context) (Calibration, error) {
	cal := Calibration{TokensPerWord: 1}
	seen := map[probeShape]bool{}
	probes := &bodyMaker{prompter: newPrompter(cal, r.opt.Salt), opt: r.opt, lengths: r.plan.Options.Lengths, probing: true}
	for i := range r.plan.Items {
		it := &r.plan.Items[i]
		shape := probeShape{it.Model, it.Endpoint, members(it.Body), it.Stream}
		if seen[shape] || len(seen) >= maxShapes {
			continue
		}
		seen[shape] = true
		probe := Item{RequestID: "preflight", Model: it.Model, Endpoint: it.Endpoint, Stream: it.Stream, Body: it.Body,
			InputTokens: probeShort, OutputTokens: probeOut, MaxTokens: trace.Ptr(int64(probeOut))}
		short, err := r.probe(ctx, probes, probe)
		if err != nil {
			return cal, err
		}
		switch {
		case it.Body != nil || short < 0:
		case cal.Measured:
			cal.other(it.Endpoint, float64(short)-probeShort*cal.TokensPerWord)
		default:
			if cal, err = r.calibrate(ctx, probes, probe, short); err != nil {
				return cal, err
			}
		}
	}
	return cal, nil
}

// members names the members of a recorded body.
func members(body []byte) string {
	var m map[string]json.RawMessage
	if json.Unmarshal(body, &m) != nil {
		return ""
	}
	return strings.Join(slices.Sorted(maps.Keys(m)), ",")
}

// calibrate measures tokens a word and what templates add, from three more counts.
func (r *run) calibrate(ctx context.Context, probes *bodyMaker, probe Item, short int64) (Calibration, error) {
	cal := Calibration{TokensPerWord: 1}
	probe.RequestID, probe.InputTokens = "preflight long", probeLong
	long, err := r.probe(ctx, probes, probe)
	if err != nil {
		return cal, err
	}
	if long > short {
		cal.TokensPerWord = float64(long-short) / (probeLong - probeShort)
		cal.User = float64(short) - probeShort*cal.TokensPerWord
		cal.System, cal.Measured = cal.User, true
	}
	cal.endpoint = probe.Endpoint
	if !talks(probe.Endpoint) || !cal.Measured {
		return cal, nil
	}
	probe.RequestID, probe.InputTokens, probe.SystemTokens, probe.SystemHash = "preflight system", 2*probeShort, probeShort, "preflight"
	system, err := r.probe(ctx, probes, probe)
	if err != nil || system < 0 {
		return cal, err
	}
	cal.System = float64(system) - 2*probeShort*cal.TokensPerWord
	return cal, nil
}

// probe sends one request and returns the prompt tokens the target counted, -1 when it does not say.
func (r *run) probe(ctx context.Context, probes *bodyMaker, probe Item) (int64, error) {
	b, err := probes.body(&probe)
	if err != nil {
		return -1, err
	}
	call := r.call(&probe, b.bytes)
	o := r.client.Do(ctx, &call)
	sleep(ctx, probePause)
	if ctx.Err() != nil {
		return -1, ctx.Err()
	}
	if o.Class != wire.ClassOK {
		e := &PreflightError{Target: r.opt.replica(), Model: r.opt.model(probe.Model), Class: o.Class, Reason: o.Reason, Code: o.Code, Status: o.Status}
		if o.Status == http.StatusNotFound {
			e.Served = r.served(ctx)
		}
		return -1, e
	}
	return orMinus(o.Usage.Input), nil
}

// served are the models that the target lists, at most a few; none when it does not say.
func (r *run) served(ctx context.Context) (names []string) {
	const most, wait = 5, 5 * time.Second
	pages := wire.NewPages(wait)
	defer pages.Close()
	page, err := pages.Get(ctx, r.urls["models"], r.header(&Item{}, 1))
	var list struct{ Data []struct{ ID string } }
	if err != nil || json.Unmarshal(page, &list) != nil {
		return nil
	}
	for _, m := range list.Data[:min(len(list.Data), most)] {
		names = append(names, m.ID)
	}
	return names
}
