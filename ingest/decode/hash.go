package decode

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"hash"
)

// Hasher makes keyed hashes, so that a hash in a run cannot be turned back by trying names. The key stays on the
// machine that ingests; the same key gives the same hashes, which keeps runs joinable.
type Hasher struct{ key []byte }

// NewHasher uses key, which should be at least 16 random bytes.
func NewHasher(key []byte) *Hasher { return &Hasher{key} }

// Text returns 32 hex digits of HMAC-SHA-256 over kind and s; "" for "". kind keeps the same text in two roles apart.
func (h *Hasher) Text(kind, s string) string {
	m := memory{h: h}
	return m.text(kind, []byte(s))
}

func (h *Hasher) mac(kind string) hash.Hash {
	m := hmac.New(sha256.New, h.key)
	m.Write([]byte(kind))
	m.Write([]byte{0})
	return m
}

// memory makes the hashes of one worker and remembers them: keys, users and instructions repeat from call to call.
type memory struct {
	h     *Hasher
	mac   hash.Hash
	buf   []byte
	texts map[named]string
	bytes int // of what texts and prefixes hold
	known map[string]prefix
}

type named struct{ kind, text string }

// maxMemory bounds what a memory holds; it starts again when it is full. Longer texts than maxRemembered are not kept.
const maxMemory, maxRemembered = 4 << 20, 64 << 10

func (m *memory) text(kind string, s []byte) string {
	if len(s) == 0 {
		return ""
	}
	if known, ok := m.texts[named{kind, string(s)}]; ok {
		return known
	}
	if m.mac == nil {
		m.mac = hmac.New(sha256.New, m.h.key)
	}
	m.mac.Reset()
	m.mac.Write(append(append(m.buf[:0], kind...), 0))
	m.mac.Write(s)
	m.buf = m.mac.Sum(m.buf[:0])
	hashed := hex.EncodeToString(m.buf[:16])
	if m.room(len(s)) {
		m.texts[named{kind, string(s)}] = hashed
	}
	return hashed
}

// room says whether a text of n bytes may be kept, and makes room for it.
func (m *memory) room(n int) bool {
	const overhead = 200
	if n > maxRemembered {
		return false
	}
	if m.bytes += n + overhead; m.texts == nil || m.bytes > maxMemory {
		m.texts, m.known, m.bytes = map[named]string{}, map[string]prefix{}, 0
	}
	return true
}
