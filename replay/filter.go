package replay

import (
	"bytes"
	"encoding/json"
	"slices"
)

// WhereKeys are the members that PlanOptions.Where may name.
var WhereKeys = []string{"model", "tenant", "app", "route", "endpoint"}

// picks says whether a request is one of those asked for.
func (o *PlanOptions) picks(it *Item) bool {
	for key, names := range o.Where {
		if !slices.Contains(names, it.member(key)) {
			return false
		}
	}
	return true
}

func (it *Item) member(key string) string {
	switch key {
	case "model":
		return it.Model
	case "tenant":
		return it.Tenant
	case "app":
		return it.App
	case "route":
		return it.Route
	}
	return it.Endpoint
}

// found is what the choice of requests comes across and people should know.
type found struct {
	filtered  int             // of another model, tenant ...
	cut       map[string]bool // sessions with turns filtered out
	unknown   int             // do not say whether they were streamed
	toolsLost int
}

func (f *found) filter(v *view) {
	f.filtered++
	if v.item.SessionID != "" {
		if f.cut == nil {
			f.cut = map[string]bool{}
		}
		f.cut[v.item.SessionID] = true
	}
}

func (f *found) take(v *view) {
	if !v.stream {
		f.unknown++
	}
	if v.called && v.item.Body == nil {
		f.toolsLost++
	}
}

// media says whether a recorded body holds images and names tools.
func media(body []byte) (images, tools bool) {
	if body == nil {
		return false, false
	}
	var m map[string]json.RawMessage
	if json.Unmarshal(body, &m) != nil {
		return false, false
	}
	for _, key := range []string{"tools", "functions"} {
		tools = tools || len(m[key]) > 2 && m[key][0] == '['
	}
	for _, key := range []string{"messages", "input"} {
		// A quote inside of text has a backslash before it, so these are whole JSON strings: the type of a part.
		for _, kind := range []string{`"image_url"`, `"input_image"`, `"image"`} {
			images = images || bytes.Contains(m[key], []byte(kind))
		}
	}
	return images, tools
}
