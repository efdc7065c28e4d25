package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"reprise/ingest"
	"reprise/layout"
	"reprise/store"
)

// buckets is what a command line has to do with buckets: copies of what it reads, which stay locked until it ends.
type buckets struct {
	size   string // bound of the cache
	copies map[string]*bucketCopy
	names  []string // paths of this machine that stand for a bucket, each before its URL
}

// named writes the URLs of buckets in place of the paths that stand for them.
func (b *buckets) named(text string) string { return strings.NewReplacer(b.names...).Replace(text) }

// renamed is a stream on which buckets have their names.
type renamed struct {
	io.Writer
	*buckets
}

func (r renamed) Write(p []byte) (int, error) {
	if len(r.names) == 0 {
		return r.Writer.Write(p)
	}
	_, err := io.WriteString(r.Writer, r.named(string(p)))
	return len(p), err
}

// bucketCopy is what a URL stands for, and where it is on this machine once it was asked for.
type bucketCopy struct {
	place *store.Place
	found []store.Object
	*store.Copy
}

func (b *buckets) close() {
	for _, c := range b.copies {
		if c.Copy != nil {
			c.Close()
		}
	}
}

// find looks once for what a URL stands for: a command that asks again sees the same.
func (a *app) find(ctx context.Context, url string) (*bucketCopy, error) {
	if c, ok := a.buckets.copies[url]; ok {
		return c, nil
	}
	place, found, err := store.Find(ctx, url)
	if err != nil {
		return nil, err
	}
	c := &bucketCopy{place: place, found: found}
	if a.buckets.copies == nil {
		a.buckets.copies = map[string]*bucketCopy{}
	}
	a.buckets.copies[url] = c
	return c, nil
}

var partName = regexp.MustCompile(`(^|/)day=([^/]+)/[^/]+\.parquet$`)

// isRun says whether a URL stands for a run, or for one Parquet file.
func (c *bucketCopy) isRun() bool {
	for _, o := range c.found {
		if partName.MatchString(o.Name) || o.Name == "" && strings.HasSuffix(c.place.String(), ".parquet") {
			return true
		}
	}
	return false
}

// inWindow says which days there are when none is looked at.
func (c *bucketCopy) inWindow(w window) error {
	var days []string
	for _, o := range c.found {
		if part := partName.FindStringSubmatch(o.Name); part != nil {
			days = append(days, part[2])
		} else if o.Name == "" {
			return nil
		}
	}
	if slices.ContainsFunc(days, w.holds) {
		return nil
	}
	return fmt.Errorf("%s: nothing lies between --from and --to; the run holds the days from %s to %s", c.place, slices.Min(days), slices.Max(days))
}

// fetch brings what want picks to this machine and gives its folder, or its file.
func (a *app) fetch(ctx context.Context, c *bucketCopy, want func(store.Object) bool) (path string, err error) {
	if c.Copy == nil {
		cache, err := a.bucketCache(c.place)
		if err != nil {
			return "", err
		}
		if c.Copy, err = cache.Mirror(ctx, c.place, c.found, want); err != nil {
			return "", err
		}
		a.buckets.names = append(a.buckets.names, c.Dir, c.place.String())
	}
	if len(c.found) == 1 && c.found[0].Name == "" {
		return c.File(c.place), nil
	}
	return c.Dir, nil
}

func (a *app) bucketCache(p *store.Place) (*store.Cache, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return nil, hinted(fmt.Errorf("no cache folder: %w", err), "set XDG_CACHE_HOME")
	}
	most, err := bytesOf(a.buckets.size)
	if err != nil {
		return nil, usage(fmt.Errorf("--cache-size: %w", err))
	}
	return &store.Cache{Dir: filepath.Join(dir, "reprise", "s3"), Max: most,
		Wait: func() { a.talk("waiting for another reprise that reads its copy of %s", p) }}, nil
}

// wanted picks what an analysis reads of a run: parts of the days that are looked at, with one day on either side for calls
// that several logs tell of, lists of compacted parts, metrics; bodies only to send them.
func wanted(f *ingestFlags) func(store.Object) bool {
	return func(o store.Object) bool {
		switch {
		case partName.MatchString(o.Name):
			return f.window.holdsPart(o.Name)
		case strings.HasPrefix(o.Name, "bodies/") || strings.Contains(o.Name, "/bodies/"):
			return f.window.bodies
		}
		return true
	}
}

// window is what a command looks at, in microseconds since 1970; nil is no bound.
type window struct {
	from, to *int64
	bodies   bool
}

// holdsPart says whether a file may hold something to look at, by the day that it lies in.
func (w window) holdsPart(name string) bool {
	part := partName.FindStringSubmatch(name)
	return part == nil || w.holds(part[2])
}

func (w window) holds(day string) bool {
	at, err := time.Parse(time.DateOnly, day)
	const aDay = int64(24 * time.Hour / time.Microsecond)
	return err != nil || (w.from == nil || at.UnixMicro()+2*aDay > *w.from) && (w.to == nil || at.UnixMicro()-aDay < *w.to)
}

// remoteInputs gives an ingest what a URL of a bucket stands for.
func (a *app) remoteInputs(ctx context.Context, input string) (out []ingest.Remote, err error) {
	if !store.Remote(input) {
		return nil, nil
	}
	c, err := a.find(ctx, input)
	if err != nil {
		return nil, err
	}
	named := strings.ContainsAny(input, "*?[") || c.found[0].Name == ""
	for _, o := range c.found {
		name := c.place.String()
		if o.Name != "" {
			name += "/" + o.Name
		}
		out = append(out, ingest.Remote{Name: name, Named: named, Open: func() (io.ReadCloser, error) { return c.place.Read(ctx, o) }})
	}
	return out, nil
}

// bytesOf reads "20GB" or "500MB".
func bytesOf(s string) (int64, error) {
	for unit, n := range map[string]float64{"TB": 1e12, "GB": 1e9, "MB": 1e6} {
		if number, ok := strings.CutSuffix(strings.ToUpper(s), unit); ok {
			if v, err := strconv.ParseFloat(strings.TrimSpace(number), 64); err == nil && v > 0 {
				return int64(v * n), nil
			}
		}
	}
	return 0, fmt.Errorf("expected a size such as 20GB or 500MB, got %q", s)
}

// isListObject picks the lists of compacted parts, which say of which parts a run has the rows.
func isListObject(o store.Object) bool { return layout.IsList(filepath.Base(o.Name)) }
