package trace

import (
	"encoding/binary"
	"hash/maphash"

	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/format"
)

// maxNames bounds the dictionary of a row group in bytes: users or deployments may be without end, and are kept as
// texts from there on.
const maxNames = 512 << 10

// names are texts that come again: numbers into a dictionary.
type names struct {
	texts
	numbers []int32
	known   []byte   // each name with its length before it
	ends    []uint32 // of each name in known
	table   []slot   // at the hash of a name or behind
	seed    maphash.Seed
	last    string
	lastIs  int32
	full    bool
}

// slot is where a name stands in a table.
type slot struct {
	hash   uint32 // without it, the names of all slots on the way would have to be looked at
	number int32  // plus one; 0 is free
}

func (n *names) add(l *levels, rows []*Request) {
	if n.full {
		n.texts.add(l, rows)
		return
	}
	for _, r := range rows {
		s := field[string](r, n.offset)
		if s == "" && n.optional {
			l.unknown()
			continue
		}
		if n.optional {
			l.known()
		}
		if s != n.last || len(n.ends) == 0 {
			n.last, n.lastIs = s, n.number(s)
		}
		n.numbers = append(n.numbers, n.lastIs)
	}
}

// number returns the number of a name, which it enters if it is new.
func (n *names) number(s string) int32 {
	if 2*len(n.ends) >= len(n.table) {
		n.grow()
	}
	hash := uint32(maphash.String(n.seed, s))
	at := n.find(hash, s)
	if at.number == 0 {
		n.known = append(binary.LittleEndian.AppendUint32(n.known, uint32(len(s))), s...)
		n.ends = append(n.ends, uint32(len(n.known)))
		n.bound(s)
		*at = slot{hash, int32(len(n.ends))}
	}
	return at.number - 1
}

// find returns the slot of a name, or that where it has to be entered.
func (n *names) find(hash uint32, s string) *slot {
	mask := uint32(len(n.table) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		if at := &n.table[i]; at.number == 0 || at.hash == hash && string(n.name(at.number-1)) == s {
			return at
		}
	}
}

// name is the name of a number.
func (n *names) name(i int32) []byte {
	const length = 4
	start := uint32(length)
	if i > 0 {
		start += n.ends[i-1]
	}
	return n.known[start:n.ends[i]]
}

// grow makes the table twice as large.
func (n *names) grow() {
	if n.table == nil {
		n.seed = maphash.MakeSeed()
	}
	old := n.table
	n.table = make([]slot, max(2*len(old), 16))
	for _, known := range old {
		if known.number > 0 {
			*n.find(known.hash, string(n.name(known.number-1))) = known
		}
	}
}

func (n *names) size() int { return n.texts.size() + 4*len(n.numbers) }

func (n *names) page(buf []byte) ([]byte, format.Encoding, error) {
	if n.full {
		return n.texts.page(buf)
	}
	n.full = len(n.known) > maxNames // a page is all of one kind
	buf, err := new(rle.DictionaryEncoding).EncodeInt32(buf, n.numbers)
	n.numbers = n.numbers[:0]
	return buf, format.RLEDictionary, err
}

func (n *names) dictionary() ([]byte, int) { return n.known, len(n.ends) }
