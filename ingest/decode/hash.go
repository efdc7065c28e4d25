package decode

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
)

// Hasher makes keyed hashes, so that a hash in a run cannot be turned back by trying names. The key stays on the
// machine that ingests; the same key gives the same hashes, which keeps runs joinable.
type Hasher struct {
	key    []byte
	blocks uint64       // seed of the hash of a block of prompt text
	ids    cipher.Block // makes an id of that and of what comes before it
}

// NewHasher uses key, which should be at least 16 random bytes.
func NewHasher(key []byte) *Hasher {
	h := &Hasher{key: key}
	ids, err := aes.NewCipher(h.mac("prefix id").Sum(nil))
	if err != nil {
		panic(err) // SHA-256 gives the right key size
	}
	h.blocks, h.ids = h.Seed("prefix"), ids
	return h
}

// Seed returns a secret number for a purpose, for hashes that are never shown.
func (h *Hasher) Seed(purpose string) uint64 {
	return binary.LittleEndian.Uint64(h.mac(purpose).Sum(nil))
}

// Text returns 32 hex digits of HMAC-SHA-256 over kind and s; "" for "". kind keeps the same text in two roles apart.
func (h *Hasher) Text(kind, s string) string {
	m := memory{h: h}
	return m.text(kind, s)
}

// Name returns what stands for a name of a kind where names are hashed, such as tenant-0a1b2c3d4e5f6071; "" for "". 64 bits
// keep the ids of a billion requests apart with 97 % certainty.
func (h *Hasher) Name(kind, s string) string {
	if s == "" {
		return ""
	}
	return kind + "-" + h.Text("name "+kind, s)[:16]
}

func (h *Hasher) mac(kind string) hash.Hash {
	m := hmac.New(sha256.New, h.key)
	m.Write([]byte(kind))
	m.Write([]byte{0})
	return m
}

// memory makes the hashes of one worker. It remembers what comes again from call to call: instructions, and of the
// names those that were hashed last.
type memory struct {
	h     *Hasher
	mac   hash.Hash
	buf   []byte
	kept  arena
	names *nameTable        // made when first needed
	known map[string]*begin // by the text of the message
	bytes int               // of the texts known

	written [64]written // instructions of late, by their length
}

// maxMemory bounds what a memory holds; it starts again when it is full. Longer texts than maxRemembered are not kept.
const maxMemory, maxRemembered = 4 << 20, 64 << 10

// nameTable holds the names that were hashed last, two to a slot; more take turns. A name is kept when it comes a second
// time: keys that are all different would only fill it. marks are hashes of the names: they are in the cache, names are not.
type nameTable struct {
	names [nameSlots][2]struct{ kind, both string } // the name and its hash behind one another
	marks [nameSlots][2]uint32
	once  [nameSlots]uint32 // mark of a name that came once
}

const nameSlots, maxName = 1 << 13, 256

// spread makes a number of the end of a name: a slot, and a mark that is not 0.
func spread(s string) (slot int, mark uint32) {
	n := uint64(len(s))
	for i := max(0, len(s)-8); i < len(s); i++ {
		n = n<<8 ^ n>>56 ^ uint64(s[i])
	}
	n *= 0x9e3779b97f4a7c15
	return int(n >> 51), uint32(n>>16) | 1
}

// name is text for names, which come again.
func (m *memory) name(kind, s string) string {
	if s == "" || len(s) > maxName {
		return m.text(kind, s)
	}
	if m.names == nil {
		m.names = new(nameTable)
	}
	slot, mark := spread(s)
	names, marks := &m.names.names[slot], &m.names.marks[slot]
	for i := range names {
		if n := &names[i]; marks[i] == mark && len(n.both) == len(s)+hexDigits && n.both[:len(s)] == s && n.kind == kind {
			return n.both[len(s):]
		}
	}
	hash := m.text(kind, s)
	if m.names.once[slot] != mark {
		m.names.once[slot] = mark
		return hash
	}
	names[1], marks[1] = names[0], marks[0]
	names[0].kind, names[0].both, marks[0] = kind, s+hash, mark
	return hash
}

// hexDigits is the length of a hash as text.
const hexDigits = 32

func (m *memory) text(kind, s string) string {
	if s == "" {
		return ""
	}
	if m.mac == nil {
		m.mac = hmac.New(sha256.New, m.h.key)
	}
	m.mac.Reset()
	m.buf = append(append(append(m.buf[:0], kind...), 0), s...)
	m.mac.Write(m.buf)
	m.buf = m.mac.Sum(m.buf[:0])[:16]
	m.buf = hex.AppendEncode(m.buf, m.buf)
	return m.kept.string(m.buf[16:])
}

func hexOf(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)[:16]) }

// room says whether a text of n bytes may be kept, and makes room for it.
func (m *memory) room(n int) bool {
	const overhead = 200
	if n > maxRemembered {
		return false
	}
	if m.bytes += n + overhead; m.known == nil || m.bytes > maxMemory {
		m.known, m.bytes = map[string]*begin{}, n
	}
	return true
}
