package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"reprise/ingest/trace"
	"reprise/replay/wire"
)

// Options say where a plan is sent and how.
type Options struct {
	Target   string            // base address, with or without /v1
	Model    string            // model name for all requests; "" uses ModelMap, then the recorded name
	ModelMap map[string]string // recorded name to the target's
	Header   http.Header       // Authorization and the like
	Wire     wire.Options      // Ahead 0 is chosen by the plan's peak rate for https, and none for http

	Salt           string  // words of a run's own at the start of each prompt, so that caches of earlier runs do not help
	Cancel         string  // CancelNever or CancelRecorded; "" is never
	MaxInFlight    int     // safety limit: sends wait (and are late) above it; 0 is what the descriptor limit allows
	MaxTokensField string  // name of the length limit in the body; "" is max_tokens
	Extra          []Field // members set in every body but those of embeddings; a value of null takes a member out

	Pacing        string // PacingOpen or PacingSessions; "" is open
	ThreadAnswers bool   // sessions: put what the target answered into the next turn, in place of what was recorded
	Retries       int    // further attempts of a call that failed without an answer; 0 none

	StartAt     time.Time // when the first request of the whole plan is due, by the wall clock; zero is at once
	ClockServer string    // NTP server that says how far off this clock is, for a part of a plan; "" asks the kernel

	TTFTSLO     time.Duration // widens the bound on send lag to 5 % of it; 0 without
	StopShare   float64       // stop when this share of the first requests, or of any 30 s later on, failed; 0 is 0.9, negative is never
	NoPreflight bool

	Sink     func(*trace.Request) error // gets each finished request, one at a time, in order of their end
	Progress func(Progress)             // is told about twice a second; nil for silence

	pace pacer // nil: the machine's
}

// Field is a member of a JSON object.
type Field struct {
	Key   string
	Value json.RawMessage
}

// ParseFields reads the members of a JSON object in their order. The error says what was expected.
func ParseFields(text []byte) (list []Field, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("expected a JSON object")
	}
	for d.More() {
		var x Field
		key, err := d.Token()
		if err == nil {
			x.Key, _ = key.(string)
			err = d.Decode(&x.Value)
		}
		if err != nil {
			return nil, fmt.Errorf("expected a JSON object: %w", err)
		}
		list = append(list, x)
	}
	if _, err := d.Token(); err != nil {
		return nil, errors.New("expected a JSON object, got one without its end")
	}
	return list, nil
}

// What happens to requests whose recorded client hung up or gave up.
const (
	CancelNever    = "never"    // sent to their end
	CancelRecorded = "recorded" // hung up as long after the due time as recorded, and given up (a timeout) if they take as long
)

// Progress is how far a replay has come.
type Progress struct {
	Planned, Sent, InFlight, Done, Failed int
	Lag                                   time.Duration // of the newest send
}

// maxRetries bounds the attempts, lest a dead target be asked for ever.
const maxRetries = 10

func (o *Options) check() error {
	u, err := url.Parse(o.Target)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("target: want an address such as http://host:8000/v1, got %q", o.Target)
	}
	switch o.Cancel {
	case "":
		o.Cancel = CancelNever
	case CancelNever, CancelRecorded:
	default:
		return fmt.Errorf("cancel: want %s or %s, got %q", CancelNever, CancelRecorded, o.Cancel)
	}
	switch {
	case o.Pacing == "":
		o.Pacing = PacingOpen
	case o.Pacing != PacingOpen && o.Pacing != PacingSessions:
		return fmt.Errorf("pacing: want %s or %s, got %q", PacingOpen, PacingSessions, o.Pacing)
	}
	if o.ThreadAnswers && o.Pacing != PacingSessions {
		return fmt.Errorf("threading answers: want pacing by %s, for a turn that does not wait has no answer to hold", PacingSessions)
	}
	if o.Retries < 0 || o.Retries > maxRetries {
		return fmt.Errorf("retries: want 0 to %d, got %d", maxRetries, o.Retries)
	}
	if o.MaxTokensField == "" {
		o.MaxTokensField = "max_tokens"
	}
	if o.StopShare == 0 {
		o.StopShare = 0.9
	}
	if o.pace == nil {
		o.pace = newPacer()
	}
	for _, x := range o.Extra {
		if !json.Valid(x.Value) {
			return fmt.Errorf("field %q: want a JSON value, got %q", x.Key, x.Value)
		}
	}
	return nil
}

func (o *Options) model(recorded string) string {
	if o.Model != "" {
		return o.Model
	}
	if name, ok := o.ModelMap[recorded]; ok {
		return name
	}
	return recorded
}
