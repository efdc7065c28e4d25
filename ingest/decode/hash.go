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
	blocks cipher.AEAD  // GMAC of a block of prompt text and of what comes before it
	ids    cipher.Block // makes an id of that
	nonce  []byte
}

// NewHasher uses key, which should be at least 16 random bytes.
func NewHasher(key []byte) *Hasher {
	h := &Hasher{key: key, nonce: make([]byte, 12)}
	blocks, err := cipher.NewGCM(h.cipher("prefix"))
	if err != nil {
		panic(err) // AES has the right block size
	}
	h.blocks, h.ids = blocks, h.cipher("prefix id")
	return h
}

// Seed returns a secret number for a purpose, for hashes that are never shown.
func (h *Hasher) Seed(purpose string) uint64 {
	return binary.LittleEndian.Uint64(h.mac(purpose).Sum(nil))
}

func (h *Hasher) cipher(purpose string) cipher.Block {
	block, err := aes.NewCipher(h.mac(purpose).Sum(nil))
	if err != nil {
		panic(err) // SHA-256 gives the right key size
	}
	return block
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
	names []named           // by slot, made when first needed
	known map[string]*begin // by the text of the message
	bytes int               // of the texts known

	written [64]written // instructions of late, by their length
}

// maxMemory bounds what a memory holds; it starts again when it is full. Longer texts than maxRemembered are not kept.
const maxMemory, maxRemembered = 4 << 20, 64 << 10

// named is a name and its hash.
type named struct{ kind, name, hash string }

const nameSlots, maxName = 1 << 14, 256

// slot spreads names over the slots by their ends. Two share a pair of slots; more take turns.
func slot(s string) uint64 {
	n := uint64(len(s))
	for i := max(0, len(s)-8); i < len(s); i++ {
		n = n<<8 ^ n>>56 ^ uint64(s[i])
	}
	return n * 0x9e3779b97f4a7c15 >> 50
}

// name is text for names, which come again.
func (m *memory) name(kind, s string) string {
	if s == "" || len(s) > maxName {
		return m.text(kind, s)
	}
	if m.names == nil {
		m.names = make([]named, nameSlots)
	}
	at := slot(s) &^ 1
	n, other := &m.names[at], &m.names[at+1]
	switch {
	case n.name == s && n.kind == kind:
		return n.hash
	case other.name == s && other.kind == kind:
		return other.hash
	}
	both := s + m.text(kind, s) // side by side: neither is in the cache next time
	*n, *other = named{kind, both[:len(s)], both[len(s):]}, *n
	return n.hash
}

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
