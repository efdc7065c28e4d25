package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/spf13/cobra"

	"reprise/store"
)

// reachBuckets lets every command that writes to a file or folder write to a bucket. It makes a folder on this machine in
// its place, and what is whole in there when the command ends goes to the bucket: so every object appears whole, and a command
// that was killed leaves nothing of its own behind.
func (a *app) reachBuckets(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		a.reachBuckets(sub)
	}
	inner := cmd.RunE
	if inner == nil {
		return
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		var all []*staged
		defer func() {
			for _, s := range all {
				s.close()
			}
		}()
		for _, name := range []string{"output", "html", "junit"} {
			f := cmd.Flags().Lookup(name)
			if f == nil || !store.Remote(f.Value.String()) {
				continue
			}
			s, err := a.stage(cmd.Context(), f.Value.String())
			if err != nil {
				return err
			}
			all = append(all, s)
			if err := f.Value.Set(s.local); err != nil {
				return err
			}
		}
		err = inner(cmd, args)
		for _, s := range all {
			err = errors.Join(a.deliver(cmd.Context(), s), err)
		}
		return err
	}
}

// staged is a folder or file that stands for one of a bucket.
type staged struct {
	place      *store.Place
	url        string
	dir, local string // local is in dir
	there      map[string]bool
}

// stage makes the folder. What the bucket holds already stands in it as an empty file of that name, so that nothing is
// written twice; lists of compacted parts are fetched.
func (a *app) stage(ctx context.Context, url string) (*staged, error) {
	p, err := store.Open(url)
	if err != nil {
		return nil, err
	}
	found, err := p.Objects(ctx)
	if err != nil {
		return nil, err
	}
	root, err := stagingRoot()
	if err != nil {
		return nil, err
	}
	s := &staged{place: p, url: p.String(), there: map[string]bool{}}
	if s.dir, err = os.MkdirTemp(root, fmt.Sprintf("%d-", os.Getpid())); err != nil {
		return nil, err
	}
	s.local = filepath.Join(s.dir, path.Base(s.url))
	a.buckets.names = append(a.buckets.names, s.local, s.url)
	for _, o := range found {
		s.there[o.Name] = true
		if err := s.standIn(ctx, o); err != nil {
			s.close()
			return nil, err
		}
	}
	return s, nil
}

// stagingRoot is where folders that stand for buckets are made, each by a process that begins its name; those of processes
// that were killed go.
func stagingRoot() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", hinted(fmt.Errorf("no cache folder: %w", err), "set XDG_CACHE_HOME")
	}
	root := filepath.Join(cache, "reprise", "out")
	if err := os.MkdirAll(root, 0o700); err != nil {
		return "", err
	}
	entries, err := os.ReadDir(root)
	for _, e := range entries {
		pid, _, _ := strings.Cut(e.Name(), "-")
		if n, err := strconv.Atoi(pid); err == nil && syscall.Kill(n, 0) == syscall.ESRCH {
			os.RemoveAll(filepath.Join(root, e.Name()))
		}
	}
	return root, err
}

// standIn makes an empty file in place of an object, so that what is written beside it sees that it is there; of lists the content.
func (s *staged) standIn(ctx context.Context, o store.Object) error {
	name := filepath.Join(s.local, filepath.FromSlash(o.Name))
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if !isListObject(o) {
		return nil
	}
	r, err := s.place.Read(ctx, o)
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = io.Copy(f, r)
	return err
}

// close removes the folder; what was not delivered was kept elsewhere.
func (s *staged) close() { os.RemoveAll(s.dir) }

// deliver writes what is new to the bucket, the parts of a run last: they make it one. A command that was interrupted still
// delivers what it stored; a second interrupt ends that, too.
func (a *app) deliver(ctx context.Context, s *staged) error {
	if ctx.Err() != nil {
		var stop func()
		ctx, stop = signal.NotifyContext(context.WithoutCancel(ctx), os.Interrupt, syscall.SIGTERM)
		defer stop()
	}
	names, err := s.fresh()
	if err != nil || len(names) == 0 {
		return err
	}
	var written, sum atomic.Int64
	put := func(name string) error {
		file := filepath.Join(s.local, filepath.FromSlash(name))
		n, err := a.buckets.prepare(file)
		if err == nil {
			err = s.place.Put(ctx, name, file)
		}
		if err == nil {
			written.Add(1)
			sum.Add(n)
		}
		return err
	}
	parts := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !partName.MatchString(n) })
	others := slices.DeleteFunc(slices.Clone(names), partName.MatchString)
	if err = store.Each(others, put); err == nil {
		err = store.Each(parts, put)
	}
	if err != nil {
		return s.keep(err)
	}
	a.talk("wrote %s, %.1f MB, to %s", counted(written.Load(), "file"), float64(sum.Load())/1e6, s.url)
	return nil
}

// fresh are the files that the command made, without temporary ones; "" when it made one file in place of a folder.
func (s *staged) fresh() (names []string, err error) {
	err = filepath.WalkDir(s.local, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // the command made nothing
		case err != nil:
			return err
		case path != s.local && strings.HasPrefix(d.Name(), ".") && d.IsDir():
			return fs.SkipDir
		case d.IsDir() || strings.HasPrefix(d.Name(), "."):
			return nil
		}
		name := filepath.ToSlash(strings.TrimPrefix(strings.TrimPrefix(path, s.local), string(filepath.Separator)))
		st, err := d.Info()
		if err == nil && !(s.there[name] && (st.Size() == 0 || isListObject(store.Object{Name: name}))) {
			names = append(names, name)
		}
		return err
	})
	return names, err
}

// prepare gives the size of a file, after it made a text that names paths that stand for buckets name the buckets.
func (b *buckets) prepare(file string) (int64, error) {
	if slices.Contains([]string{".json", ".html", ".xml"}, filepath.Ext(file)) {
		text, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(file, []byte(b.named(string(text))), 0o600)
		}
		if err != nil {
			return 0, err
		}
	}
	st, err := os.Stat(file)
	if err != nil {
		return 0, err
	}
	return st.Size(), nil
}

// keep moves what could not be delivered to where nothing removes it, and says so.
func (s *staged) keep(err error) error {
	for name := range s.there {
		os.Remove(filepath.Join(s.local, filepath.FromSlash(name)))
	}
	kept := filepath.Join(filepath.Dir(s.dir), "kept-"+filepath.Base(s.dir))
	if os.Rename(s.dir, kept) != nil {
		return err
	}
	hint := ""
	var e *store.Error
	if errors.As(err, &e) {
		hint = e.Hint + "; "
	}
	return hinted(err, "%swhat was made is kept in %s", hint, filepath.Join(kept, filepath.Base(s.local)))
}
