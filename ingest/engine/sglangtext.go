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
	head, obj, finished, ok := sglangMessage(text)
	if !ok {
		c.Skip(otherLine)
		return nil
	}
	call := sglangCall{stamp: sglangStamp(head), precision: 1e6, embedding: strings.HasPrefix(obj, "EmbeddingReqInput(")}
	if finished {
		at := strings.LastIndex(obj, metaKey)
		out := strings.LastIndex(obj[:max(at, 0)], ", out={")
		if at < 0 || out < 0 {
			return c.Reject("no_meta_info", "expected out={... 'meta_info': {...}} at the end, got a line of %d bytes without", len(text))
		}
		fields, ok := pyDict(obj[at+len(metaKey):])
		if !ok {
			return c.Reject("bad_meta_info", "expected 'meta_info' to hold a dict, got another value or half of one")
		}
		obj, call.meta = obj[:out], func(name string) string { return fields[name] }
	}
	call.rid = sglangID(obj)
	call.stream, call.maxTokens = strings.ToLower(inside(obj, " stream=", ",")), inside(obj, "'max_new_tokens': ", ",")
	switch {
	case strings.Contains(call.rid, "HEALTH_CHECK"):
		c.Skip("health_check")
		return nil
	case finished:
		return call.finish(c, open)
	}
	return call.begin(c, open)
}

const metaKey = "'meta_info': "

// sglangMessage cuts "... Receive: obj=..." and "... Finish: obj=...": the mark that comes first, the other may be in a
// prompt.
func sglangMessage(text string) (head, obj string, finished, ok bool) {
	const begin, end = "Receive: obj=", "Finish: obj="
	i, j := strings.Index(text, begin), strings.Index(text, end)
	switch {
	case j >= 0 && (i < 0 || j < i):
		return text[:j], text[j+len(end):], true, true
	case i >= 0:
		return text[:i], text[i+len(begin):], false, true
	}
	return "", "", false, false
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
