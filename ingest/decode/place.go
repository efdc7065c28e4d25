package decode

import "bytes"

// place is a member as the records of one source have it. Records of a source look alike: most keys, with all that stands
// around them, are where they were in the record before, and are then checked in one comparison.
type place struct { // 64 bytes, all that a record needs
	glue       string   // from behind the value before, or behind the opening bracket, up to the value: `, "model": `
	next       *place   // the member behind it, last time
	first      *place   // the first member of the object it holds, last time
	same       *stretch // that begins here or has a part that does
	keys       *Keys    // which were asked for last, and
	index      int8     // where the member stands in them
	escaped    bool     // the key is written with escapes
	part       int16    // which
	key, keyTo int16    // of the key, in glue
	known      *known   // nil for nowhere
}

// known is what else is known of a place.
type known struct {
	inside   []*place
	element  *place    // of the array it holds: all elements are one place
	elements *elements // of which this is the place
	text     string    // that was last copied from it
	changed  int       // how often in a row it was another
	seen     seen
}

// open is an object or array that is not closed yet.
type open struct {
	node    int32
	object  bool
	at      *place
	last    *place   // of the member read last; nil before the first
	element *element // of the array, that was read last; nil for none that is known
}

// comes returns the member that came here last time; nil for none.
func (o *open) comes() *place {
	switch {
	case !o.object:
		return nil
	case o.last != nil:
		return o.last.next
	}
	return o.at.first
}

// glued says that the text at i is that of the member p up to its value.
func (d *doc) glued(p *place, i int) bool {
	return len(d.src)-i > len(p.glue) && string(d.src[i:i+len(p.glue)]) == p.glue && d.src[i+len(p.glue)] > ' '
}

// maxPlaces bounds what is learnt from a source, maxInside from one object: keys may be names without end.
const maxPlaces, maxInside, maxGlue = 4096, 256, 256

// root is the place of whole records. A first record teaches nothing: it may be the only one.
func (d *doc) root() *place {
	if d.records++; d.records == 1 {
		return &d.nowhere
	}
	if d.record == nil {
		d.record = &place{known: &known{}}
	}
	return d.record
}

// learn returns the place of the member whose glue begins at from and ends at to, and remembers that it came here.
func (d *doc) learn(in *open, from, key, keyTo, to int) *place {
	if in.at == &d.nowhere || in.last == &d.nowhere || to-from > maxGlue {
		return &d.nowhere
	}
	p := d.find(in.at, d.src[from:to])
	if p == nil {
		if d.places == maxPlaces || len(in.at.known.inside) == maxInside {
			return &d.nowhere
		}
		d.places++
		p = &place{glue: string(d.src[from:to]), key: int16(key - from), keyTo: int16(keyTo - from), known: &known{}}
		p.escaped = bytes.IndexByte(d.src[key:keyTo], '\\') >= 0
		in.at.known.inside = append(in.at.known.inside, p)
	}
	if in.last != nil {
		in.last.next = p
	} else {
		in.at.first = p
	}
	return p
}

func (d *doc) find(in *place, glue []byte) *place {
	for _, p := range in.known.inside {
		if string(glue) == p.glue {
			return p
		}
	}
	return nil
}

func (d *doc) element(in *open) *place {
	if in.at == &d.nowhere {
		return in.at
	}
	k := in.at.known
	if k.element == nil {
		k.element = &place{known: &known{}}
	}
	return k.element
}
