package ingest

import (
	"bytes"
	"encoding/json"
	"fmt"

	"reprise/ingest/decode"
)

// wrapper says where a source's records stand inside the records of a file: exports put them into a list, shippers into
// a text member, OpenTelemetry into the attributes of log records.
type wrapper struct {
	list string // member whose elements are records, or hold them
	text string // member that is the record: an object, JSON in a text, or a line of text
	otlp bool   // the log records of an OTLP export
}

// The names that exports and shippers use: Azure and AWS (records, Records, logEvents with message), Docker and Fluent
// Bit (log), journald (MESSAGE), Loki (line), Google Cloud (jsonPayload, textPayload), Elasticsearch (_source), Splunk (event).
var (
	listNames = []string{"data", "logs", "records", "Records", "result", "results", "logEvents", "events", "hits"}
	textNames = []string{"message", "log", "MESSAGE", "line", "jsonPayload", "textPayload", "_source", "event"}
)

// signs is what the wrapping itself is worth in detection: a named member little, OTLP's envelope as much as to a format
// that reads it.
func (w wrapper) signs() int {
	if w.otlp {
		return 4
	}
	return 1
}

// row is one record in a wrapper: an object, a line of text, or both.
type row struct {
	object *decode.Value
	line   []byte
}

// rows visits what v holds.
func (w wrapper) rows(v *decode.Value, visit func(row)) {
	switch {
	case w.otlp:
		logRecords(v, visit)
	case w.list == "":
		w.member(v, visit)
	case v.Get(w.list).Type() != decode.TypeArray:
		visit(row{object: v}) // a record that stands beside the wrapped ones
	default:
		for _, e := range v.GetArray(w.list) {
			w.member(e, visit)
		}
	}
}

func (w wrapper) member(v *decode.Value, visit func(row)) {
	if w.text == "" {
		visit(row{object: v})
		return
	}
	inner := v.Get(w.text)
	switch inner.Type() {
	case decode.TypeObject:
		visit(row{object: inner})
	case decode.TypeString:
		text := bytes.TrimSpace(inner.GetStringBytes())
		visit(row{object: decode.Nested(inner).GetObject(), line: text})
	default:
		visit(row{})
	}
}

// logRecords makes an object of each log record: its attributes, then the body's members, trace_id and span_id. A body
// that is text is the line.
func logRecords(v *decode.Value, visit func(row)) {
	for _, resource := range v.GetArray("resourceLogs") {
		for _, scope := range resource.GetArray("scopeLogs") {
			for _, rec := range scope.GetArray("logRecords") {
				visit(logRecord(rec))
			}
		}
	}
}

func logRecord(rec *decode.Value) (r row) {
	text := []byte{'{'}
	text = attributes(text, rec.GetArray("attributes"))
	text = attributes(text, rec.GetArray("body", "kvlistValue", "values"))
	for _, id := range [][2]string{{"traceId", "trace_id"}, {"spanId", "span_id"}} {
		if s := decode.Text(rec, id[0]); s != "" {
			text = member(text, []byte(id[1]), rec.Get(id[0]).Raw())
		}
	}
	r.line = bytes.TrimSpace(rec.GetStringBytes("body", "stringValue"))
	if r.object = decode.Nested(rec, "body", "stringValue").GetObject(); r.object == nil && len(text) > 1 {
		r.object, _ = decode.Parse(append(text, '}')) // nil when a key is written oddly
	}
	return r
}

// attributes appends the scalar ones as they are written.
func attributes(dst []byte, list []*decode.Value) []byte {
	for _, a := range list {
		for _, kind := range []string{"stringValue", "intValue", "doubleValue", "boolValue"} {
			if v := a.Get("value", kind); v != nil {
				dst = member(dst, a.GetStringBytes("key"), v.Raw())
			}
		}
	}
	return dst
}

func member(dst, key, value []byte) []byte {
	quoted, err := json.Marshal(string(key))
	if err != nil {
		return dst
	}
	if len(dst) > 1 {
		dst = append(dst, ',')
	}
	return append(append(append(dst, quoted...), ':'), value...)
}

// wrapped returns the looks at what stands inside the records of l.
func (l *look) wrapped() (list []look) {
	for _, w := range l.wrappers() {
		inner := look{container: l.container, wrapper: &w}
		var lines [][]byte
		for _, v := range l.Records {
			w.rows(v, func(r row) {
				if r.object != nil && len(inner.Records) < maxSample {
					inner.Records = append(inner.Records, r.object)
				}
				if r.line != nil && len(lines) < maxSample {
					lines = append(lines, r.line)
				}
			})
		}
		if inner.Records != nil {
			list = append(list, inner)
		}
		if lines != nil {
			list = append(list, look{Sample: decode.Sample{Head: bytes.Join(lines, []byte("\n"))}, container: l.container, wrapper: &w, asText: true})
		}
	}
	return list
}

// wrappers are the ways in which the records of l may hold others.
func (l *look) wrappers() (list []wrapper) {
	has := func(name string, kinds ...decode.Type) bool {
		for _, v := range l.Records {
			for _, kind := range kinds {
				if v.Get(name).Type() == kind {
					return true
				}
			}
		}
		return false
	}
	if has("resourceLogs", decode.TypeArray) {
		return []wrapper{{otlp: true}}
	}
	for _, text := range textNames {
		if has(text, decode.TypeString, decode.TypeObject) {
			list = append(list, wrapper{text: text})
		}
	}
	for _, name := range listNames {
		if !has(name, decode.TypeArray) {
			continue
		}
		list = append(list, wrapper{list: name})
		for _, text := range textNames {
			list = append(list, wrapper{list: name, text: text})
		}
	}
	return list
}

// rowErrors are what was refused of the rows of one record.
type rowErrors []error

func (e rowErrors) Error() string { return fmt.Sprintf("%d rows refused, the first: %v", len(e), e[0]) }

// each gives the rows in a record to a format, one after the other.
func (w wrapper) each(ctx *decode.Context, v *decode.Value, f *decode.Format, asText bool) error {
	var refused rowErrors
	ctx.Row = 0
	w.rows(v, func(r row) {
		var err error
		ctx.Row++
		switch {
		case asText && r.line != nil:
			err = f.Line(ctx, r.line)
		case !asText && r.object.Type() == decode.TypeObject:
			err = f.JSON(ctx, r.object)
		default:
			ctx.Skip("no_record_inside")
		}
		if err != nil {
			refused = append(refused, err)
		}
	})
	ctx.Row = 0
	if refused == nil {
		return nil
	}
	return refused
}
