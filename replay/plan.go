package replay

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"reprise/ingest/trace"
)

// Item is one planned request and a row of a plan file.
type Item struct {
	RequestID string `parquet:"request_id,zstd"`      // of the recorded request, so that a replay pairs with it
	RootID    string `parquet:"root_request_id,zstd"` // of the recorded call, equal to RequestID when it was not retried
	SessionID string `parquet:"session_id,optional,zstd"`
	Turn      *int32 `parquet:"turn,optional,zstd"`
	DueUS     int64  `parquet:"due_us,delta"`                   // microseconds after the start
	Arrival   int64  `parquet:"arrival,timestamp(microsecond)"` // as recorded
	Endpoint  string `parquet:"endpoint,dict,zstd"`             // chat, completions, responses, messages or embeddings
	Stream    bool   `parquet:"stream"`
	Model     string `parquet:"model,optional,dict,zstd"` // as the caller asked for it
	Tenant    string `parquet:"tenant,optional,dict,zstd"`
	App       string `parquet:"app,optional,dict,zstd"`
	Route     string `parquet:"route,optional,dict,zstd"`

	InputTokens  int64  `parquet:"input_tokens,zstd"`
	CachedTokens *int64 `parquet:"cached_tokens,optional,zstd"` // as recorded
	OutputTokens int64  `parquet:"output_tokens,zstd"`          // 0 of embeddings
	MaxTokens    *int64 `parquet:"max_tokens,optional,zstd"`    // the caller's limit

	SystemHash   string  `parquet:"system_hash,optional,dict,zstd"`
	SystemTokens int64   `parquet:"system_tokens,zstd"`                // the same for all items of one SystemHash; 0 without one
	PrefixIDs    []int64 `parquet:"prefix_ids,list,optional"`          // chained block hashes
	PrefixTokens []int32 `parquet:"prefix_tokens,list,optional"`       // of each block, the same wherever its id stands; their sum is InputTokens
	BlockTokens  *int32  `parquet:"block_tokens,optional,zstd"`        // of a full block; NULL when blocks are equal shares of the text
	IdealHit     int64   `parquet:"ideal_hit_tokens,zstd"`             // what an endless prefix cache would hold of it, in plan order (metrics.md 5.2)
	EndUS        *int64  `parquet:"recorded_end_us,optional,zstd"`     // how long the recorded call took
	CancelUS     *int64  `parquet:"recorded_cancel_us,optional,zstd"`  // when the recorded client hung up, from its arrival
	TimeoutUS    *int64  `parquet:"recorded_timeout_us,optional,zstd"` // when the recorded call was given up, from its arrival
	Probe        string  `parquet:"probe,optional,dict,zstd"`          // ProbeLong or ProbeControl; "" for a recorded request
	Body         []byte  `parquet:"body,optional,zstd"`                // as recorded, when the run kept bodies
}

// Plan is what would be sent.
type Plan struct {
	Items   []Item
	Options PlanOptions
	Summary Summary
	Part    *Part // when this is what one of several clients sends (shard.go), else nil; not stored in plan files
}

// PlanOptions choose what of a run is sent, and when. The zero value is everything at recorded pace.
type PlanOptions struct {
	From    *int64        `json:"from,omitempty"` // arrivals from here, microseconds since 1970
	To      *int64        `json:"to,omitempty"`   // and before here
	Speed   float64       `json:"speed"`          // 2 is twice as fast; 0 is 1
	MaxGap  time.Duration `json:"max_gap_ns"`     // longest pause between two sends, after Speed; 0 is no limit
	Sample  float64       `json:"sample"`         // share of sessions, 0 to 1; 0 is all
	Seed    uint64        `json:"seed"`           // chooses the sample, and draws arrivals
	Lengths string        `json:"lengths"`        // LengthsRecorded or LengthsNatural; "" is recorded

	Where    map[string][]string `json:"where,omitempty"`    // only requests whose member (one of WhereKeys) is one of these, for each member named
	Endpoint string              `json:"endpoint,omitempty"` // EndpointChat sends responses and messages as chat, too; "" as recorded

	Generation bool `json:"generation_only,omitempty"` // leave embeddings out

	Rate     float64       `json:"rate,omitempty"`     // calls a second to draw for a run without arrivals; 0 leaves calls without arrival out
	Arrivals string        `json:"arrivals,omitempty"` // how they are drawn: poisson, constant or gamma:CV; "" is poisson
	Ramp     time.Duration `json:"ramp_ns,omitempty"`  // the rate drawn grows from 0 to Rate in this time

	Body func(requestID string, attempt int32) []byte `json:"-"` // recorded bodies, nil when the run kept none
}

// How long answers are made.
const (
	LengthsRecorded = "recorded" // forced to the recorded number of tokens
	LengthsNatural  = "natural"  // the model stops when it likes, at the latest at the caller's recorded limit
)

// EndpointChat is for targets that know chat completions only. Recorded bodies of other endpoints do not fit and are
// replaced by synthetic prompts.
const EndpointChat = "chat"

// Summary says what a plan holds, for people and for the plan file.
type Summary struct {
	Requests        int            `json:"requests"`
	Sessions        int            `json:"sessions"` // a request without a session is one
	DurationUS      int64          `json:"duration_us"`
	CutUS           int64          `json:"cut_us"`           // pauses shortened by MaxGap
	PeakRate        int            `json:"peak_rate"`        // most sends within one second
	PeakConcurrency *int           `json:"peak_concurrency"` // if each took as long as recorded; null when durations are unknown
	InputTokens     int64          `json:"input_tokens"`
	OutputTokens    int64          `json:"output_tokens"`
	PrefixShare     *float64       `json:"prefix_share"` // ideal hits of input tokens; null when no prompt shape is known
	Profile         []int          `json:"profile"`      // sends in each of 60 equal parts of the duration
	Images          int            `json:"images"`       // requests whose recorded body holds images: sent as they are
	Tools           int            `json:"tools"`        // requests whose recorded body names tools: sent as they are
	ToolsLost       int            `json:"tools_lost"`   // requests that ended in a tool call and whose body was not kept: sent as plain text
	LeftOut         map[string]int `json:"left_out"`     // requests, by reason
	Notices         []Notice       `json:"notices"`
}

// Notice is something that does not stop a plan or replay but must be shown. Code is stable, Message is for people.
type Notice struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// BuildPlan plans the requests of one or more runs, in any order of rows. Attempts of one call and views of one call
// by several sources become one item. Errors: bad options, an unreadable run, nothing left to send.
func BuildPlan(rows iter.Seq2[trace.Request, error], o PlanOptions) (*Plan, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	groups, err := collapse(rows, o)
	if err != nil {
		return nil, err
	}
	if o.Rate > 0 {
		if err := draw(groups, o); err != nil {
			return nil, err
		}
	}
	p := &Plan{Options: o, Summary: Summary{LeftOut: map[string]int{}}}
	var seen found
	for _, g := range groups {
		switch {
		case g.reason != OutNoArrival && !o.wants(g.item.Arrival, g.session()):
			continue
		case !o.picks(&g.item):
			seen.filter(&g)
			continue
		case g.reason != "":
			p.Summary.LeftOut[g.reason]++
			continue
		}
		seen.take(&g)
		p.Items = append(p.Items, g.item)
	}
	if len(p.Items) == 0 {
		hint := ""
		if p.Summary.LeftOut[OutNoArrival] == len(groups) {
			hint = "; --rate draws arrivals"
		} else if len(o.Where) > 0 {
			hint = fmt.Sprintf("; %d are of another %s", seen.filtered, strings.Join(slices.Sorted(maps.Keys(o.Where)), ", "))
		}
		return nil, fmt.Errorf("nothing to send: no request left of %d (%s)%s", len(groups), reasons(p.Summary.LeftOut), hint)
	}
	slices.SortStableFunc(p.Items, func(a, b Item) int {
		return cmp.Or(cmp.Compare(a.Arrival, b.Arrival), strings.Compare(a.RequestID, b.RequestID))
	})
	p.Summary.CutUS = schedule(p.Items, o)
	shapePrompts(p.Items)
	p.summarise(&seen)
	return p, nil
}

func (o *PlanOptions) check() error {
	if o.Speed == 0 {
		o.Speed = 1
	}
	if o.Sample == 0 {
		o.Sample = 1
	}
	if o.Lengths == "" {
		o.Lengths = LengthsRecorded
	}
	switch {
	case !(o.Speed > 0) || math.IsInf(o.Speed, 0):
		return fmt.Errorf("speed: want a number above 0 (2 is twice as fast), got %v", o.Speed)
	case !(o.Sample > 0 && o.Sample <= 1):
		return fmt.Errorf("sample: want a share above 0 and up to 1, got %v", o.Sample)
	case !(o.Rate >= 0) || math.IsInf(o.Rate, 0):
		return fmt.Errorf("rate: want a number of calls a second, got %v", o.Rate)
	case o.MaxGap < 0:
		return fmt.Errorf("longest gap: want 0 or more, got %v", o.MaxGap)
	case o.Lengths != LengthsRecorded && o.Lengths != LengthsNatural:
		return fmt.Errorf("lengths: want %s or %s, got %q", LengthsRecorded, LengthsNatural, o.Lengths)
	case o.Endpoint != "" && o.Endpoint != EndpointChat:
		return fmt.Errorf("endpoint: want %s or nothing, got %q", EndpointChat, o.Endpoint)
	}
	for key := range o.Where {
		if !slices.Contains(WhereKeys, key) {
			return fmt.Errorf("where: want one of %s, got %q", strings.Join(WhereKeys, ", "), key)
		}
	}
	return o.checkDraw()
}

// wants says whether a request is in the time range and its session in the sample. Sessions are drawn whole, by a hash
// of the session and the seed: the same ones for the same seed, whatever else is in the run (RPL-26).
func (o *PlanOptions) wants(arrival int64, session string) bool {
	if o.From != nil && arrival < *o.From || o.To != nil && arrival >= *o.To {
		return false
	}
	if o.Sample >= 1 {
		return true
	}
	h := sha256.Sum256(append(binary.LittleEndian.AppendUint64(nil, o.Seed), session...))
	return float64(binary.LittleEndian.Uint64(h[:8]))/(1<<64) < o.Sample
}

// schedule sets the due times of items sorted by arrival: first the speed, then the longest gap, both in replay time.
// It returns by how much pauses were cut.
func schedule(items []Item, o PlanOptions) (cut int64) {
	first := items[0].Arrival
	last := int64(0) // of the item before, uncut
	for i := range items {
		due := int64(math.Round(float64(items[i].Arrival-first) / o.Speed))
		if gap := o.MaxGap.Microseconds(); gap > 0 && due-last > gap {
			cut += due - last - gap
		}
		last = due
		items[i].DueUS = due - cut
	}
	return cut
}

func reasons(counts map[string]int) string {
	keys := make([]string, 0, len(counts))
	for k := range counts {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for i, k := range keys {
		keys[i] = fmt.Sprintf("%s %d", k, counts[k])
	}
	return strings.Join(keys, ", ")
}

// planMeta is the metadata key of a plan file: options and summary as JSON.
const planMeta = "reprise.plan"

type planHead struct {
	Options PlanOptions `json:"options"`
	Summary Summary     `json:"summary"`
}

// Save writes the plan to one Parquet file, which must not exist yet.
func (p *Plan) Save(path string) error {
	head, err := json.Marshal(planHead{p.Options, p.Summary})
	if err != nil {
		return err
	}
	mode := os.FileMode(0o644)
	if slices.ContainsFunc(p.Items, func(it Item) bool { return it.Body != nil }) {
		mode = 0o600 // bodies hold people's text
	}
	return trace.WriteTable(path, p.Items, map[string]string{planMeta: string(head)}, mode)
}

// LoadPlan reads a file written by Save.
func LoadPlan(path string) (*Plan, error) {
	meta, _, _, err := trace.Meta(path)
	if err != nil {
		return nil, err
	}
	head, ok := meta[planMeta]
	if !ok {
		return nil, fmt.Errorf("%s: expected a plan file made by plan, got another Parquet file", path)
	}
	var h planHead
	if err := json.Unmarshal([]byte(head), &h); err != nil {
		return nil, fmt.Errorf("%s: plan options: %w", path, err)
	}
	items, err := trace.ReadTable[Item](path)
	if err != nil {
		return nil, err
	}
	if len(items) == 0 {
		return nil, fmt.Errorf("%s: %w", path, errors.New("the plan is empty"))
	}
	return &Plan{Items: items, Options: h.Options, Summary: h.Summary}, nil
}
