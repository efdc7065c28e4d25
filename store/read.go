package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/minio/minio-go/v7"
)

// Read opens an object. A transfer that breaks off goes on behind the last byte that came, as often as it takes, as long as
// some bytes come each time.
func (p *Place) Read(ctx context.Context, o Object) (io.ReadCloser, error) {
	r := &reader{ctx: ctx, place: p, object: o}
	return r, r.open()
}

type reader struct {
	ctx    context.Context // of the whole read, as in http.Request
	place  *Place
	object Object
	body   io.ReadCloser
	at     int64
	failed int // transfers in a row without a byte
}

func (r *reader) open() error {
	if r.object.Size == 0 {
		r.body = http.NoBody
		return nil
	}
	if r.object.ETag == "" {
		return &Error{text: fmt.Sprintf("reading %s: expected an ETag from the server, got none: an object that is replaced while it is read could not be told", r.place.url(r.object.Name))}
	}
	var o minio.GetObjectOptions
	if err := errors.Join(o.SetRange(r.at, r.object.Size-1), o.SetMatchETag(r.object.ETag)); err != nil {
		return err
	}
	body, _, _, err := r.place.client.GetObject(r.ctx, r.place.bucket, r.place.at(r.object.Name), o)
	if err != nil {
		return r.place.fail("reading", r.object.Name, err)
	}
	r.body = body
	return nil
}

// cutOffs is how many transfers in a row may bring nothing.
const cutOffs = 5

func (r *reader) Read(p []byte) (int, error) {
	if r.at == r.object.Size {
		return 0, io.EOF
	}
	for {
		n, err := r.body.Read(p)
		if r.at += int64(n); r.at > r.object.Size {
			return 0, &Error{text: fmt.Sprintf("reading %s: expected %d bytes, got more", r.place.url(r.object.Name), r.object.Size)}
		}
		if n > 0 {
			r.failed = 0
			return n, nil
		}
		if err == nil {
			continue
		}
		if r.failed++; r.failed > cutOffs {
			return 0, &Error{text: fmt.Sprintf("reading %s: the transfer broke off at byte %d of %d, %d times in a row", r.place.url(r.object.Name), r.at, r.object.Size, r.failed),
				Hint: "run the same command again", cause: err}
		}
		if err := r.again(); err != nil {
			return 0, err
		}
	}
}

// again waits and opens what is left.
func (r *reader) again() error {
	r.body.Close()
	r.body = http.NoBody
	select {
	case <-time.After(time.Duration(r.failed*r.failed) * 100 * time.Millisecond):
	case <-r.ctx.Done():
		return r.ctx.Err()
	}
	return r.open()
}

func (r *reader) Close() error { return r.body.Close() }
