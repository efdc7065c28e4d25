package otel

import (
	"reprise/ingest/trace"
)

// first fills the first token from events on the span's own clock, else from an attribute.
func (b *build) first() {
	r := b.r
	if at, ok := b.eventAt(vercelFirst); ok {
		b.setFirst(at)
		return
	}
	if at := b.s.duration(r, firstToken); at != nil && *at != 0 { // 0: never reached
		b.setFirst(*at)
		return
	}
	if at, ok := b.eventAt(tokenEvent); ok {
		if b.replayed(at) {
			r.AddQuality(trace.QFirstIsEnd)
			return
		}
		b.setFirst(at)
		return
	}
	b.chunks()
}

// setFirst stores a first-token time. Only engines measure one for calls that are not streamed.
func (b *build) setFirst(us int64) {
	r := b.r
	r.FirstUS, r.TTFTKind = &us, trace.TTFTAny
	if r.Vantage == trace.Engine || b.s.engine() {
		r.TTFTKind = trace.TTFTEngine
	} else if r.Stream == nil {
		r.Stream = trace.Ptr(true)
	}
}

// replayed: an event in the last 1 % or 2 ms of its span was added when the span was closed (formats.md 3.5).
func (b *build) replayed(at int64) bool {
	end := b.r.EndUS
	return end != nil && *end-at <= max(2000, *end/100)
}

// eventAt is the time of the first event of that name, in microseconds from the start.
func (b *build) eventAt(name string) (us int64, ok bool) {
	for _, e := range b.s.events {
		if e.name == name && e.at != 0 && b.s.start != 0 {
			return round(e.at - b.s.start), true
		}
	}
	return 0, false
}

// chunks reads OpenLLMetry's event a chunk. Where a limit dropped events (Python keeps the last 128) nothing is left
// of the first.
func (b *build) chunks() {
	if b.s.eventsCut || b.s.start == 0 {
		return
	}
	var offsets []int64
	for _, e := range b.s.events {
		if e.name == chunkEvent && e.at != 0 {
			offsets = append(offsets, round(e.at-b.s.start))
		}
	}
	if len(offsets) == 0 {
		return
	}
	if b.replayed(offsets[0]) {
		b.r.AddQuality(trace.QFirstIsEnd)
		return
	}
	b.setFirst(offsets[0])
	b.r.SetGaps(offsets)
}
