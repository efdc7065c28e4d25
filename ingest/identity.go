package ingest

import (
	"crypto/sha256"
	"hash"

	"github.com/zeebo/xxh3"

	"reprise/ingest/decode"
)

// identity computes the identity of a content: equal for equal bytes. It is SHA-256 over the 128-bit XXH3 hashes of pieces
// of identityPiece bytes: a fifth of the time of AES-GMAC, a twentieth of SHA-256. The hashes have a seed from the hashing key
// and stay in here: XXH3 is no cryptographic hash, but who knows neither cannot aim at two contents with one identity.
type identity struct {
	seed   uint64
	hashes hash.Hash
	piece  []byte // of a piece that came in parts
}

const identityPiece = blockBytes

func newIdentity(h *decode.Hasher) *identity {
	return &identity{seed: h.Seed("content"), hashes: sha256.New()}
}

// Write takes the next bytes of the content. It never fails.
func (d *identity) Write(p []byte) (int, error) {
	n := len(p)
	for len(d.piece)+len(p) >= identityPiece {
		if len(d.piece) == 0 {
			d.add(p[:identityPiece])
			p = p[identityPiece:]
			continue
		}
		fill := identityPiece - len(d.piece)
		d.add(append(d.piece, p[:fill]...))
		d.piece, p = d.piece[:0], p[fill:]
	}
	d.piece = append(d.piece, p...)
	return n, nil
}

func (d *identity) add(piece []byte) {
	sum := xxh3.Hash128Seed(piece, d.seed).Bytes()
	d.hashes.Write(sum[:])
}

// sum ends the content and returns its identity.
func (d *identity) sum() []byte {
	d.add(d.piece)
	d.piece = nil
	return d.hashes.Sum(nil)
}
