package public

import (
	"fmt"
	"reflect"
	"strings"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// Reprise is our own JSON lines: the columns of a run by their names.
func Reprise() decode.Format {
	return decode.Format{Name: "reprise-jsonl", Title: "reprise JSON lines (any column of a run)", About: aboutReprise(),
		Units: "whole microseconds; arrival since 1970, durations from arrival", Defects: "none known",
		Example: `{"request_id":"r1","arrival":1795946400000000,"first_us":250000,"end_us":1500000,"input_tokens":107,"output_tokens":27,"http_status":200}`,
		Detect:  detectReprise, JSON: reprise}
}

func aboutReprise() string {
	b := strings.Builder{}
	b.WriteString(`One JSON object a line; its keys are columns of a run. Needed: request_id, and arrival (whole microseconds since 1970,
or RFC 3339 text, or null when there is no time). Everything else may be left out:

error_class    without it: from http_status (400 and above), "ok" for a status below 400 with an end_us, else "unknown"
vantage        "client";  clock_domain "wall";  attempt 1;  time_precision_us 1;  root_request_id is request_id
ttft_kind      "first_content_chunk", and stream true, where first_us or gaps_us are given
tokens_source  "usage" where token counts are given

null means unknown, also where a default exists. Durations are whole microseconds from arrival. gaps_us: the first
element is the first chunk's offset, then the gap to the chunk before; chunk_tokens has as many elements. Keys that are
no columns, wrong types and unknown words are refused, one row at a time. source_format is
kept when given: rows of several formats may tell of one call, and are read as one. source_file and source_line are
accepted and written anew.

Columns:
`)
	for _, col := range columns {
		fmt.Fprintf(&b, "  %-22s %s\n", col.name, col.describe())
	}
	return b.String()
}

// detectReprise: both needed keys, and how many other columns there are.
func detectReprise(s *decode.Sample) int {
	best := 0
	for _, v := range s.Records {
		n := 0
		if decode.Has(v, "request_id") && decode.Has(v, "arrival") {
			for _, col := range columns {
				if decode.Has(v, col.name) {
					n++
				}
			}
		}
		best = max(best, n)
	}
	return best
}

func reprise(c *decode.Context, v *decode.Value) error {
	r := c.New("reprise-jsonl", trace.Client)
	vantage, given := r.Vantage, map[string]bool{}
	row := reflect.ValueOf(r).Elem()
	var err error
	v.GetObject().Visit(func(key []byte, v *decode.Value) {
		if err == nil {
			err = member(c, r, row, given, key, v)
		}
	})
	if err != nil {
		return err
	}
	if r.RequestID == "" {
		return c.Reject("no_id", "expected a request_id, got none")
	}
	if !given["arrival"] {
		return c.Reject("no_time", "expected an arrival (null if unknown), got none")
	}
	if c.Vantage != "" {
		r.Vantage = vantage // the person's word counts
	}
	r.SourceFile, r.SourceLine = c.File, c.Line
	defaults(r, given)
	c.Emit(r, nil)
	return nil
}

// member stores one member of the object.
func member(c *decode.Context, r *trace.Request, row reflect.Value, given map[string]bool, key []byte, v *decode.Value) error {
	col := find(key)
	if col == nil {
		return c.Reject("unknown_key", "%q is no column; did you mean %q?", key, nearest(string(key)))
	}
	if given[col.name] {
		return c.Reject("duplicate_key", "%q is there twice", key)
	}
	given[col.name] = true
	if v.Type() == decode.TypeNull {
		if col.required() {
			return c.Reject("wrong_type", "%s: expected a value, got null", col.name)
		}
		return nil
	}
	if col.name == "arrival" && v.Type() == decode.TypeString {
		us, naive, err := decode.Time(string(v.GetStringBytes()), c.Zone)
		if err != nil {
			return c.Reject("bad_time", "arrival: %v", err)
		}
		if r.Arrival = &us; naive {
			r.AddQuality(trace.QNaiveTime)
		}
		return nil
	}
	if want := col.set(row.Field(col.field), v); want != "" {
		return c.Reject("wrong_type", "%s: expected %s, got %q", col.name, want, cut(v.String()))
	}
	return nil
}

// defaults fills what was left out and has a meaning when left out.
func defaults(r *trace.Request, given map[string]bool) {
	if !given["error_class"] && r.HTTPStatus != nil && (*r.HTTPStatus >= 400 || *r.HTTPStatus > 0 && r.EndUS != nil) {
		r.ErrorClass = trace.HTTPClass(*r.HTTPStatus)
	}
	if r.FirstUS != nil || len(r.GapsUS) > 0 {
		if !given["ttft_kind"] {
			r.TTFTKind = trace.TTFTContent
		}
		if !given["stream"] {
			r.Stream = trace.Ptr(true)
		}
	}
	if !given["tokens_source"] && (r.InputTokens != nil || r.OutputTokens != nil) {
		r.TokensSource = "usage"
	}
}
