package engine

import (
	"strings"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// sglangLine reads a line of the text form, or a JSON event among lines.
func sglangLine(c *decode.Context, open *pending[*trace.Request], text string) error {
	if object := sglangEvent(text); object != "" {
		if v, err := decode.Parse([]byte(object)); err == nil {
			return sglangJSON(c, open, v)
		}
	}
	kind, obj := "Finish: obj=", ""
	head, rest, ok := strings.Cut(text, kind)
	if received, after, isBegin := strings.Cut(text, "Receive: obj="); isBegin && (!ok || len(received) < len(head)) {
		kind, head, rest = "Receive: obj=", received, after
	} else if !ok {
		c.Skip(otherLine)
		return nil
	}
	obj = rest
	call := sglangCall{stamp: sglangStamp(head), precision: 1e6, embedding: strings.HasPrefix(rest, "EmbeddingReqInput(")}
	if kind == "Finish: obj=" {
		at := strings.LastIndex(rest, "'meta_info': ")
		out := strings.LastIndex(rest[:max(at, 0)], ", out={")
		if at < 0 || out < 0 {
			return c.Reject("no_meta_info", "expected out={... 'meta_info': {...}}, got %q", rest[max(len(rest)-60, 0):])
		}
		fields, ok := pyDict(rest[at+len("'meta_info': "):])
		if !ok {
			return c.Reject("bad_meta_info", "expected a dict, got %q", rest[at:min(len(rest), at+60)])
		}
		obj, call.meta = rest[:out], func(name string) string { return fields[name] }
	}
	call.rid = sglangID(obj)
	call.stream, call.maxTokens = strings.ToLower(inside(obj, " stream=", ",")), inside(obj, "'max_new_tokens': ", ",")
	if strings.Contains(call.rid, "HEALTH_CHECK") {
		c.Skip("health_check")
		return nil
	}
	if kind == "Finish: obj=" {
		return call.finish(c, open)
	}
	return call.begin(c, open)
}

// sglangID is rid='...', the first argument; "" when it is a list of them.
func sglangID(obj string) string {
	_, after, _ := strings.Cut(obj, "rid='")
	id, _, ok := strings.Cut(after, "'")
	if !ok || len(obj)-len(after) > 64 {
		return ""
	}
	return id
}

// sglangStamp is the text of "[2026-08-12 10:41:05 TP0] ", the last brackets before the message.
func sglangStamp(head string) string {
	head = head[strings.LastIndexByte(head, '[')+1:]
	if len(head) < len("2026-08-12 10:41:05") {
		return ""
	}
	return head[:len("2026-08-12 10:41:05")]
}
