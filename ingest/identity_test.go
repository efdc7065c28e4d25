package ingest

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"reprise/ingest/decode"
)

// The identity depends on every byte and on the length, and on nothing else: not on how the content was read.
func TestIdentity(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	h := decode.NewHasher([]byte("k"))
	of := func(content []byte) string {
		d := newIdentity(h)
		for rest := content; len(rest) > 0; {
			n := min(1+rng.IntN(2*identityPiece), len(rest))
			d.Write(rest[:n])
			rest = rest[n:]
		}
		return string(d.sum())
	}
	content := make([]byte, 3*identityPiece)
	seen := map[string]int{}
	for _, n := range []int{0, 1, 15, 16, identityPiece - 1, identityPiece, identityPiece + 1, 2 * identityPiece, len(content)} {
		id := of(content[:n])
		if m, ok := seen[id]; ok {
			t.Errorf("%d and %d zeros have the same identity", m, n)
		}
		if seen[id] = n; of(content[:n]) != id {
			t.Errorf("%d zeros have two identities", n)
		}
	}
	id := of(content)
	for range 50 {
		other := bytes.Clone(content)
		other[rng.IntN(len(other))] ^= 1 << rng.IntN(8)
		if of(other) == id {
			t.Error("a changed bit leaves the identity as it is")
		}
	}
	swapped := bytes.Clone(content)
	swapped[0], content[identityPiece] = 1, 1 // equal pieces in another order
	if of(swapped) == of(content) {
		t.Error("the order of the pieces must count")
	}
	if h = decode.NewHasher([]byte("other")); of(make([]byte, 9)) == string(newIdentity(decode.NewHasher([]byte("k"))).sum()) {
		t.Error("the key must count")
	}
}
