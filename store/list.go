package store

import (
	"context"
	"net/http"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/minio/minio-go/v7"
)

// Object is an object below a place.
type Object struct {
	Name string // below the place, with slashes; "" when the place itself is the object
	Size int64
	ETag string // changes when the object does
}

// Find gives what a URL stands for, in order of name: the object of that name, else all below it (a folder, without hidden
// names), else all whose names match it as a glob (* and ? do not match a slash). None is an error. The names are below the
// place, which is the last folder before a glob.
func Find(ctx context.Context, url string) (p *Place, found []Object, err error) {
	base, pattern := url, ""
	if i := strings.IndexAny(url, "*?["); i > len(scheme) {
		cut := strings.LastIndexByte(url[:i], '/') + 1
		base, pattern = url[:cut], url[cut:]
	}
	if p, err = Open(base); err != nil {
		return nil, nil, err
	}
	if found, err = p.Objects(ctx); err != nil {
		return nil, nil, err
	}
	if pattern != "" {
		found = slices.DeleteFunc(found, func(o Object) bool {
			ok, err := path.Match(pattern, o.Name)
			return err != nil || !ok
		})
	}
	if len(found) == 0 {
		return nil, nil, &Error{text: url + ": there is no such object, and none below it"}
	}
	return p, found, nil
}

// Objects lists the object of the place, or those below it, in order of name; none is no error. Names that would lead out
// of a folder and hidden ones are left out. A listing of several pages is no snapshot: it is taken until two agree, so that
// what moves from many objects into one is not missed.
func (p *Place) Objects(ctx context.Context) (found []Object, err error) {
	for before := []Object(nil); ; before = found {
		keys := 0
		if found, keys, err = p.list(ctx); err != nil {
			return nil, p.fail("listing", "", err)
		}
		if keys <= pageKeys || slices.Equal(found, before) {
			break
		}
	}
	if len(found) > 0 || p.key == "" {
		return found, nil
	}
	o, err := p.client.StatObject(ctx, p.bucket, p.key, minio.StatObjectOptions{})
	if minio.ToErrorResponse(err).StatusCode == http.StatusNotFound {
		return nil, nil
	}
	return []Object{{Size: o.Size, ETag: o.ETag}}, p.fail("looking for", "", err)
}

// pageKeys is how many keys a page of a listing has.
const pageKeys = 1000

// list takes one listing. keys counts all names, also those left out.
func (p *Place) list(ctx context.Context) (found []Object, keys int, err error) {
	prefix := p.at("") + "/"
	if p.key == "" {
		prefix = ""
	}
	for o := range p.client.Client.ListObjects(ctx, p.bucket, minio.ListObjectsOptions{Prefix: prefix, Recursive: true, MaxKeys: pageKeys}) {
		if o.Err != nil {
			return nil, 0, o.Err
		}
		keys++
		name := strings.TrimPrefix(o.Key, prefix)
		if filepath.IsLocal(name) && !strings.HasSuffix(name, "/") && !strings.Contains("/"+name, "/.") {
			found = append(found, Object{name, o.Size, o.ETag})
		}
	}
	return found, keys, ctx.Err()
}
