package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"syscall"
	"time"
)

// Cache keeps local copies of what was read.
type Cache struct {
	Dir  string
	Max  int64  // bytes of all copies together
	Wait func() // called when another process must end first; may be nil
}

// Copy is a folder that looks like a place. It stays as it is until Close.
type Copy struct {
	Dir  string
	lock *os.File
}

// Close lets others change the copy.
func (c *Copy) Close() error { return c.lock.Close() }

// File is the path of the object when the place is one.
func (c *Copy) File(p *Place) string { return filepath.Join(c.Dir, path.Base(p.key)) }

// Mirror makes a copy of the objects that want picks, of all that the place holds. Objects that it holds with their etag
// are not fetched again; what the place no longer holds is removed. More than the cache may hold is an error.
func (c *Cache) Mirror(ctx context.Context, p *Place, all []Object, want func(Object) bool) (*Copy, error) {
	sum := int64(0)
	for _, o := range all {
		if want(o) {
			sum += o.Size
		}
	}
	if sum > c.Max {
		return nil, &Error{text: fmt.Sprintf("%s: expected at most %.1f GB to look at, got %.1f GB", p, float64(c.Max)/1e9, float64(sum)/1e9),
			Hint: "take some days (--from, --to), or allow more disk: --cache-size 100GB"}
	}
	id := sha256.Sum256([]byte(p.endpoint + "/" + p.bucket + "/" + p.key))
	dir := filepath.Join(c.Dir, fmt.Sprintf("%s-%x", path.Base(p.bucket+"/"+p.key), id[:6]))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making cache: %w", err)
	}
	m := &mirror{Cache: c, place: p, dir: dir, all: all, want: want, sum: sum}
	for {
		lock, err := c.lock(ctx, dir, syscall.LOCK_SH)
		if err != nil {
			return nil, err
		}
		os.Chtimes(lock.Name(), time.Time{}, time.Now()) // the order in which copies go
		if m.current() {
			return &Copy{dir, lock}, nil
		}
		lock.Close()
		if err := m.update(ctx); err != nil {
			return nil, err
		}
	}
}

// lock locks a copy; who dies gives it free.
func (c *Cache) lock(ctx context.Context, dir string, how int) (*os.File, error) {
	f, err := os.OpenFile(dir+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("locking cache: %w", err)
	}
	for first := true; ; first = false {
		err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			f.Close()
			return nil, fmt.Errorf("locking cache: %w", err)
		}
		if first && c.Wait != nil {
			c.Wait()
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			f.Close()
			return nil, ctx.Err()
		}
	}
}
