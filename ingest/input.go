package ingest

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"reprise/ingest/decode"
)

// errCut marks an input whose compressed form ends too early: what came before it is good.
var errCut = errors.New("compressed data ends too early")

// input is an open file as plain bytes. Everything read goes into content, so that the identity of a part is that of the
// content: a copy that was compressed or renamed is the same input.
type input struct {
	*bufio.Reader
	behind  io.Reader // what Reader reads
	base    string
	content *identity
	remote  *remoteReader // nil for a file of this machine
	close   []func()
}

const peekBytes = 1 << 20

// unreadable is an error of a remote input's way here, not of its content.
type unreadable struct{ error }

func (e unreadable) Unwrap() error { return e.error }

// remoteReader remembers that its input could not be read to its end: what reads on top of it takes any end for one.
type remoteReader struct {
	from   io.Reader
	failed error
}

func (r *remoteReader) Read(p []byte) (int, error) {
	if r.failed != nil {
		return 0, r.failed
	}
	n, err := r.from.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		r.failed = unreadable{err}
		return n, r.failed
	}
	return n, err
}

func (r *remoteReader) err() error {
	if r == nil {
		return nil
	}
	return r.failed
}

func open(from file, stdin io.Reader, h *decode.Hasher) (*input, error) {
	name := from.name
	in := &input{base: filepath.Base(name), content: newIdentity(h)}
	raw := stdin
	if from.open != nil {
		r, err := from.open()
		if err != nil {
			return nil, unreadable{err}
		}
		in.remote = &remoteReader{from: r}
		raw, in.close = in.remote, append(in.close, func() { r.Close() })
	} else if name != Stdin {
		f, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("opening input: %w", err)
		}
		raw, in.close = f, append(in.close, func() { f.Close() })
	} else {
		in.base = "stdin"
	}
	plain, err := in.decompress(bufio.NewReaderSize(raw, 256<<10))
	if err != nil {
		in.Close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	in.behind = io.TeeReader(plain, in.content)
	in.Reader = bufio.NewReaderSize(in.behind, peekBytes)
	return in, in.checkEncoding(name)
}

// Read reads what was peeked at, then past the buffer.
func (in *input) Read(p []byte) (int, error) {
	if in.Buffered() > 0 {
		return in.Reader.Read(p)
	}
	return in.behind.Read(p)
}

// unread puts b back in front of what is to come.
func (in *input) unread(b []byte) {
	in.behind = io.MultiReader(bytes.NewReader(b), in.Reader)
	in.Reader = bufio.NewReaderSize(in.behind, peekBytes)
}

// Close releases the file and the decompressor.
func (in *input) Close() {
	for _, f := range in.close {
		f()
	}
}

// decompress finds compression by content; the name's suffix is not trusted. Several members or frames are one stream.
func (in *input) decompress(raw *bufio.Reader) (io.Reader, error) {
	switch head, _ := raw.Peek(4); {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(raw)
		if err != nil {
			return nil, fmt.Errorf("gzip: %w", cut(err))
		}
		return cutReader{z}, nil
	case bytes.HasPrefix(head, zstdMagic):
		z, err := newZstd(raw)
		if err != nil {
			return nil, fmt.Errorf("zstd: %w", err)
		}
		in.close = append(in.close, z.Close)
		return cutReader{z}, nil
	}
	return raw, nil
}

var zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}

func newZstd(r io.Reader) (*zstd.Decoder, error) {
	return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(64<<20), zstd.WithDecoderLowmem(true))
}

// cutReader names the error of a stream that ends inside a member, so that the good part can be kept.
type cutReader struct{ r io.Reader }

func (c cutReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	return n, cut(err)
}

func cut(err error) error {
	if err == nil || errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	return fmt.Errorf("%w: %w", errCut, err)
}

// checkEncoding skips a UTF-8 byte order mark and refuses UTF-16 with a hint.
func (in *input) checkEncoding(name string) error {
	if err := in.skipZeros(); err != nil {
		in.Close()
		return err
	}
	head, _ := in.Peek(4)
	switch {
	case bytes.HasPrefix(head, []byte{0xef, 0xbb, 0xbf}):
		in.Discard(3)
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}), bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		in.Close()
		return &HintError{fmt.Errorf("%s: expected UTF-8, got UTF-16 text", name), "convert it: iconv -f UTF-16 -t UTF-8 " + name}
	}
	return nil
}

// skipZeros skips the zeros at the begin of a log that was emptied (logrotate's copytruncate) while its writer went on
// at its old place. No length frame begins with four zeros.
func (in *input) skipZeros() error {
	for {
		b, err := in.Peek(4)
		if len(b) < 4 || !bytes.Equal(b, make([]byte, 4)) {
			if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, errCut) {
				return err
			}
			return nil
		}
		b, _ = in.Peek(in.Buffered())
		in.Discard(len(b) - len(bytes.TrimLeft(b, "\x00")))
	}
}

// HintError is an error with advice on what to do.
type HintError struct {
	Err  error
	Hint string
}

func (e *HintError) Error() string { return e.Err.Error() }
func (e *HintError) Unwrap() error { return e.Err }

// framed says whether the head looks like the collector file exporter's length framing: a 4-byte big-endian length,
// then a protobuf message, a zstd frame or a JSON object (formats.md 5.1).
func framed(head []byte) bool {
	if len(head) < 9 {
		return false
	}
	n := binary.BigEndian.Uint32(head)
	body := head[4:]
	return n >= 4 && n <= maxRecord && (body[0] == 0x0a || body[0] == '{' || bytes.HasPrefix(body, zstdMagic))
}
