package decode

import "bytes"

// place is a member as the records of one source have it. Records of a source look alike: most keys, with all that stands
// around them, are where they were in the record before, and are then checked in one comparison.
type place struct {
	glue       string // from behind the value before, or behind the opening bracket, up to the value: `, "model": `
	key, keyTo int    // of the key, in glue
	escaped    bool   // the key is written with escapes
	next       *place // the member behind it, last time
	first      *place // the first member of the object it holds, last time
	inside     []*place
	element    *place // of the array it holds: all elements are one place
	keys       *Keys  // which were asked for last, and
	index      int8   // where the member stands in them
}

// open is an object or array that is not closed yet.
type open struct {
	node   int32
	object bool
	at     *place
	last   *place // of the member read last; nil before the first
}

// comes returns the member that came here last time, if the text at i is the same up to its value.
func (d *doc) comes(o *open, i int) *place {
	p := o.at.first
	if o.last != nil {
		p = o.last.next
	}
	if p == nil || !o.object || len(d.src)-i <= len(p.glue) || string(d.src[i:i+len(p.glue)]) != p.glue || d.src[i+len(p.glue)] <= ' ' {
		return nil
	}
	return p
}

// maxPlaces bounds what is learnt from a source, maxInside from one object: keys may be names without end.
const maxPlaces, maxInside, maxGlue = 4096, 256, 256

// root is the place of whole records. A first record teaches nothing: it may be the only one.
func (d *doc) root() *place {
	if d.records++; d.records == 1 {
		return &d.nowhere
	}
	return &d.record
}

// learn returns the place of the member whose glue begins at from and ends at to, and remembers that it came here.
func (d *doc) learn(in *open, from, key, keyTo, to int) *place {
	if in.at == &d.nowhere || in.last == &d.nowhere || to-from > maxGlue {
		return &d.nowhere
	}
	p := d.find(in.at, d.src[from:to])
	if p == nil {
		if d.places == maxPlaces || len(in.at.inside) == maxInside {
			return &d.nowhere
		}
		d.places++
		p = &place{glue: string(d.src[from:to]), key: key - from, keyTo: keyTo - from}
		p.escaped = bytes.IndexByte(d.src[key:keyTo], '\\') >= 0
		in.at.inside = append(in.at.inside, p)
	}
	if in.last != nil {
		in.last.next = p
	} else {
		in.at.first = p
	}
	return p
}

func (d *doc) find(in *place, glue []byte) *place {
	for _, p := range in.inside {
		if string(glue) == p.glue {
			return p
		}
	}
	return nil
}

func (d *doc) element(in *open) *place {
	if in.at.element == nil && in.at != &d.nowhere {
		in.at.element = &place{}
	}
	if in.at.element == nil {
		return &d.nowhere
	}
	return in.at.element
}
