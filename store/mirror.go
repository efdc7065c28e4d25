package store

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// mirror is the work on one copy.
type mirror struct {
	*Cache
	place *Place
	dir   string
	all   []Object
	want  func(Object) bool
	sum   int64
}

// index names the file that says of which objects the files are copies.
const index = ".objects.json"

func (m *mirror) have() map[string]Object {
	have := map[string]Object{}
	b, err := os.ReadFile(filepath.Join(m.dir, index))
	if err == nil {
		err = json.Unmarshal(b, &have)
	}
	if err != nil {
		return map[string]Object{} // all is fetched again
	}
	for name := range have {
		if st, err := os.Stat(m.path(name)); err != nil || st.Size() != have[name].Size {
			delete(have, name)
		}
	}
	return have
}

// path is the file of an object; the object of the place itself has the place's name.
func (m *mirror) path(name string) string {
	if name == "" {
		name = path.Base(m.place.key)
	}
	return filepath.Join(m.dir, filepath.FromSlash(name))
}

// current says whether the copy holds all that is wanted, and nothing that is not there any more.
func (m *mirror) current() bool {
	have := m.have()
	held := 0
	for _, o := range m.all {
		if have[o.Name] == o {
			held++
		} else if m.want(o) {
			return false
		}
	}
	return held == len(have)
}

// update brings the copy up to date, alone.
func (m *mirror) update(ctx context.Context) error {
	lock, err := m.lock(ctx, m.dir, syscall.LOCK_EX)
	if err != nil {
		return err
	}
	defer lock.Close()
	have := m.have()
	if err := m.drop(have); err != nil {
		return err
	}
	if err := m.makeRoom(); err != nil {
		return err
	}
	var missing []Object
	for _, o := range m.all {
		if m.want(o) && have[o.Name] != o {
			missing = append(missing, o)
		}
	}
	var mu sync.Mutex
	err = Each(missing, func(o Object) error {
		if err := m.fetch(ctx, o); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		have[o.Name] = o
		return nil
	})
	return errors.Join(err, m.save(have)) // what came stays
}

// drop removes the files that are no copy of an object of now.
func (m *mirror) drop(have map[string]Object) error {
	keep := map[string]bool{filepath.Join(m.dir, index): true}
	held := map[string]Object{}
	spare := m.Max - m.sum // for what is not wanted now
	for _, o := range m.all {
		if have[o.Name] != o {
			continue
		}
		if !m.want(o) {
			if spare -= o.Size; spare < 0 {
				continue
			}
		}
		keep[m.path(o.Name)], held[o.Name] = true, o
	}
	maps.DeleteFunc(have, func(name string, _ Object) bool { _, ok := held[name]; return !ok })
	if err := m.save(have); err != nil {
		return err
	}
	return filepath.WalkDir(m.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || keep[path] {
			return err
		}
		return os.Remove(path)
	})
}

func (m *mirror) save(have map[string]Object) error {
	b, err := json.Marshal(have)
	if err != nil {
		return err
	}
	name := filepath.Join(m.dir, index)
	return errors.Join(os.WriteFile(name+".new", b, 0o600), os.Rename(name+".new", name))
}

// fetch copies an object to its file, whole or not at all. The index must name no file that a loss of power may empty.
func (m *mirror) fetch(ctx context.Context, o Object) error {
	to := m.path(o.Name)
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(filepath.Dir(to), ".partial-"+filepath.Base(to)), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	r, err := m.place.Read(ctx, o)
	if err != nil {
		return err
	}
	defer r.Close()
	if _, err := io.Copy(f, r); err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), to)
}

// makeRoom removes the copies that were not read for longest, until what is wanted has room beside the others. Those that
// somebody reads stay.
func (m *mirror) makeRoom() error {
	entries, err := os.ReadDir(m.Dir)
	if err != nil {
		return err
	}
	type copied struct {
		dir  string
		used time.Time
		size int64
	}
	var others []copied
	total := m.sum
	for _, e := range entries {
		name, locked := strings.CutSuffix(e.Name(), ".lock")
		dir := filepath.Join(m.Dir, name)
		if st, err := e.Info(); err == nil && locked && dir != m.dir {
			others = append(others, copied{dir, st.ModTime(), sizeOf(dir)})
			total += others[len(others)-1].size
		}
	}
	slices.SortFunc(others, func(a, b copied) int { return a.used.Compare(b.used) })
	for _, o := range others {
		if total <= m.Max {
			break
		}
		if f, err := os.OpenFile(o.dir+".lock", os.O_RDWR, 0); err == nil {
			if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil && os.RemoveAll(o.dir) == nil {
				total -= o.size
			}
			f.Close()
		}
	}
	return nil
}

func sizeOf(dir string) (n int64) {
	filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			if st, err := d.Info(); err == nil {
				n += st.Size()
			}
		}
		return nil
	})
	return n
}
