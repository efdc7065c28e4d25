package otel

import (
	"strconv"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// Triton is the trace file of NVIDIA Triton (--trace-config mode=triton).
func Triton() decode.Format {
	return decode.Format{Name: "triton", Title: "NVIDIA Triton trace file (JSON)", About: aboutTriton, Units: "timestamps: nanoseconds of a monotonic clock",
		Defects: "writes no tokens, no outcome and no time of day", Detect: detectTriton,
		Example: `{"id":1,"model_name":"m","timestamps":[{"name":"REQUEST_START","ns":2356425054587444},{"name":"REQUEST_END","ns":2356425058000000}]}`,
		Group: func() decode.Group {
			t := &triton{byID: map[int64]*tritonRequest{}}
			return decode.Group{JSON: t.decode, End: t.end}
		}}
}

const aboutTriton = `A list of {id, model_name} and {id, timestamps: [{name, ns}]}: what shares an id is one request. Records
are counted as part_of_request, requests at the end of the file.
Can contain: arrivals and durations on a monotonic clock (comparable within one start of the server), queue, model. Cannot:
time of day, first tokens, tokens, outcomes.

arrival        REQUEST_START, in clock_domain monotonic. end_us: REQUEST_END. queue_us: QUEUE_START to COMPUTE_START.
request_id     the client's request_id, else FILE:ID. Requests with a parent_id are steps of an ensemble: duplicate_view.
error_class    unknown. Requests without REQUEST_START are skipped as no_start.
`

func detectTriton(s *decode.Sample) int {
	best := 0
	for _, v := range s.Records {
		if decode.Int(v, "id") == nil {
			continue
		}
		best = max(best, 2*decode.One(decode.Int(v, "timestamps", "0", "ns") != nil && decode.Has(v, "timestamps", "0", "name"))+decode.One(decode.Has(v, "model_name")))
	}
	return best
}

type triton struct {
	byID  map[int64]*tritonRequest
	order []*tritonRequest
}

type tritonRequest struct {
	id, line         int64
	model, requestID string
	child            bool
	at               map[string]int64 // first stamp of each name
}

func (t *triton) decode(c *decode.Context, v *decode.Value) error {
	id := decode.Int(v, "id")
	if id == nil || !decode.Has(v, "timestamps") && !decode.Has(v, "model_name") {
		return c.Reject("not_triton", "expected id with model_name or timestamps, got an object with the keys %q", keys(v))
	}
	r := t.byID[*id]
	if r == nil {
		r = &tritonRequest{id: *id, line: c.Line, at: map[string]int64{}}
		t.byID[*id], t.order = r, append(t.order, r)
	}
	c.Skip("part_of_request")
	r.model, r.requestID = firstOf(r.model, decode.Text(v, "model_name")), firstOf(r.requestID, decode.Text(v, "request_id"))
	r.child = r.child || decode.Has(v, "parent_id")
	for _, s := range v.Get("timestamps").GetArray() {
		name, ns := decode.Text(s, "name"), decode.Int(s, "ns")
		if _, twice := r.at[name]; ns != nil && *ns > 0 && !twice {
			r.at[name] = *ns
		}
	}
	return nil
}

// end emits the requests in the order in which they began to be told of.
func (t *triton) end(c *decode.Context) {
	for _, q := range t.order {
		c.Line = q.line
		switch start := q.at["REQUEST_START"]; {
		case q.child:
			c.Skip(duplicateView)
		case start == 0:
			c.Skip("no_start")
		default:
			c.Emit(q.request(c, start), nil)
		}
	}
}

func (q *tritonRequest) request(c *decode.Context, start int64) *trace.Request {
	r := c.New("triton", trace.Engine)
	r.ClockDomain, r.Arrival, r.ModelServed = trace.Monotonic, trace.Ptr(round(start)), q.model
	if r.RequestID = q.requestID; r.RequestID == "" {
		r.RequestID = c.File + ":" + strconv.FormatInt(q.id, 10)
		r.AddQuality(trace.QIDDerived)
	}
	r.RootRequestID = r.RequestID
	r.EndUS, r.QueueUS = q.between("REQUEST_START", "REQUEST_END"), q.between("QUEUE_START", "COMPUTE_START")
	return r
}

// between is the time from one stamp to another; nil unless both are there.
func (q *tritonRequest) between(from, to string) *int64 {
	a, b := q.at[from], q.at[to]
	if a == 0 || b == 0 {
		return nil
	}
	return trace.Ptr(round(b - a))
}
