package ingest

import (
	"crypto/cipher"
	"crypto/sha256"
	"encoding/binary"
	"hash"

	"reprise/ingest/decode"
)

// identity computes the identity of a content: equal for equal bytes, and nobody without the hashing key can make two
// contents with the same one. It is SHA-256 over the authentication tags (AES-GMAC) of pieces of identityPiece bytes: a
// third of the time of SHA-256 over the content. The tags stay in here, so that one nonce a piece number is enough.
type identity struct {
	mac   cipher.AEAD
	tags  hash.Hash
	piece []byte // of a piece that came in parts
	count uint64 // pieces
	buf   []byte
}

const identityPiece = blockBytes

func newIdentity(h *decode.Hasher) *identity {
	return &identity{mac: h.GMAC("content"), tags: sha256.New()}
}

// Write takes the next bytes of the content. It never fails.
func (d *identity) Write(p []byte) (int, error) {
	n := len(p)
	for len(d.piece)+len(p) >= identityPiece {
		if len(d.piece) == 0 {
			d.tag(p[:identityPiece])
			p = p[identityPiece:]
			continue
		}
		fill := identityPiece - len(d.piece)
		d.tag(append(d.piece, p[:fill]...))
		d.piece, p = d.piece[:0], p[fill:]
	}
	d.piece = append(d.piece, p...)
	return n, nil
}

func (d *identity) tag(piece []byte) {
	d.count++
	nonce := binary.BigEndian.AppendUint64(make([]byte, 4, 12), d.count)
	d.buf = d.mac.Seal(d.buf[:0], nonce, nil, piece)
	d.tags.Write(d.buf)
}

// sum ends the content and returns its identity.
func (d *identity) sum() []byte {
	d.tag(d.piece)
	d.piece = nil
	return d.tags.Sum(nil)
}
