package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"reprise/analyze"
	"reprise/ingest"
	"reprise/store"
)

// mount opens a run. A log file or a folder of logs works too: it is ingested into the person's cache first, where it
// is found again as long as no file has changed.
func (a *app) mount(ctx context.Context, path string, f *ingestFlags) (*analyze.Run, error) {
	if f.engine != "" {
		run, err := analyze.OpenTable(path)
		if err != nil {
			return nil, usage(fmt.Errorf("--engine: %w", err))
		}
		return run, nil
	}
	if store.Remote(path) {
		return a.mountRemote(ctx, path, f)
	}
	if isPlan(path) {
		return nil, hinted(fmt.Errorf("%s: expected a run or a log, got a plan: it holds requests to send and no answers", path), "send it first: reprise replay %s --target URL -o RUN", path)
	}
	if isRun(path) {
		if len(f.hash) > 0 {
			return nil, usage(fmt.Errorf("--hash: %s is a run already, its names are stored; ingest its log again", path))
		}
		return analyze.Open(path)
	}
	if path == ingest.Stdin {
		run, err := newInCache("stdin-")
		if err != nil {
			return nil, err
		}
		defer os.Remove(run) // that nothing came into
		return a.mountLog(ctx, path, run, f)
	}
	if _, err := os.Stat(path); err != nil {
		return nil, noPath(path, err)
	}
	run, err := cacheFolder(path, f)
	if err != nil {
		return nil, err
	}
	return a.mountLog(ctx, path, run, f)
}

// mountRemote opens a run of a bucket through a copy on this machine; logs are read where they are.
func (a *app) mountRemote(ctx context.Context, url string, f *ingestFlags) (*analyze.Run, error) {
	c, err := a.find(ctx, url)
	if err != nil {
		return nil, err
	}
	if c.isRun() {
		if len(f.hash) > 0 {
			return nil, usage(fmt.Errorf("--hash: %s is a run already, its names are stored; ingest its log again", url))
		}
		if err := c.inWindow(f.window); err != nil {
			return nil, err
		}
		local, err := a.fetch(ctx, c, wanted(f))
		if err != nil {
			return nil, err
		}
		run, err := openAs(local, url)
		if err == nil { // the copy may hold days that an earlier command looked at
			run.Parts = slices.DeleteFunc(run.Parts, func(p string) bool { return !f.window.holdsPart(filepath.ToSlash(p)) })
		}
		return run, err
	}
	run, err := cachedRun(url, f, func(h io.Writer) error {
		for _, o := range c.found {
			fmt.Fprintln(h, o.Name, o.Size, o.ETag)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return a.mountLog(ctx, url, run, f)
}

// mountLog opens a log as the run of the cache that was made of it, or makes it.
func (a *app) mountLog(ctx context.Context, path, run string, f *ingestFlags) (*analyze.Run, error) {
	if isRun(run) {
		if why, err := os.ReadFile(run + doubtSuffix); err == nil {
			a.talk("warning: %s", why)
		}
		return openAs(run, path)
	}
	o, err := f.options(run, a)
	if err != nil {
		return nil, err
	}
	bar := a.ingestProgress([]string{path})
	o.Progress = bar.add
	acc, err := ingest.Run(ctx, o, path)
	bar.done()
	if err != nil {
		return nil, err
	}
	t := acc.Totals
	a.talk("read %s records, kept %s requests (%s rejected, %s incomplete, %s skipped); cached in %s", count(t.Read), count(t.Kept),
		count(total(t.Rejected)), count(t.Incomplete), count(total(t.Skipped)), run)
	limit, err := share(f.maxRejects)
	if err != nil {
		return nil, usage(fmt.Errorf("--max-rejects: %w", err))
	}
	if err := accountError(acc, limit); err != nil {
		a.talk("warning: %v", err)
		if t.Kept == 0 {
			return nil, err
		}
		if err := os.WriteFile(run+doubtSuffix, []byte(err.Error()), 0o600); err != nil {
			return nil, err
		}
	}
	return openAs(run, path)
}

// doubtSuffix is that of a file beside a run of the cache: why it is less than its log, for those who find it there later.
const doubtSuffix = ".warning"

// openAs opens a run under the name of what it was made of; standard input cannot be named again.
func openAs(run, path string) (*analyze.Run, error) {
	r, err := analyze.Open(run)
	if err == nil && path != ingest.Stdin {
		r.Path = path
	}
	return r, err
}

func isRun(path string) bool {
	if strings.HasSuffix(path, ".parquet") {
		return true
	}
	return hasDays(path) || len(analyze.Shards(path)) > 0
}

func hasDays(path string) bool {
	days, _ := os.ReadDir(path)
	return slices.ContainsFunc(days, func(e os.DirEntry) bool { return e.IsDir() && strings.HasPrefix(e.Name(), "day=") })
}

// cacheFolder names a run after the files' paths, sizes and times, and the choices it was ingested with.
func cacheFolder(path string, f *ingestFlags) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return cachedRun(abs, f, func(h io.Writer) error { return stamps(h, abs) })
}

// cachedRun names a run after what identifies its input, and the choices it was ingested with.
func cachedRun(path string, f *ingestFlags, identify func(h io.Writer) error) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", hinted(fmt.Errorf("no cache folder: %w", err), "ingest it first: reprise ingest %s -o run", path)
	}
	h := sha256.New()
	fmt.Fprintln(h, f.format, f.mapping, f.vantage, f.keyFile, f.plain, f.hash, f.zone, f.year)
	if err = identify(h); err == nil && f.mapping != "" {
		err = stamps(h, f.mapping)
	}
	if err != nil {
		return "", err
	}
	return filepath.Join(cache, "reprise", fmt.Sprintf("%s-%x", filepath.Base(path), h.Sum(nil)[:6])), nil
}

// stamps writes the path, size and time of a file, or of all files of a folder.
func stamps(h io.Writer, root string) error {
	return filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		st, err := d.Info()
		if err == nil {
			fmt.Fprintln(h, p, st.Size(), st.ModTime().UnixNano())
		}
		return err
	})
}
