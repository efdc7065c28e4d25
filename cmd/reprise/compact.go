package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"reprise/ingest/trace"
	"reprise/store"
)

func (a *app) compactCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "compact RUN",
		Short: "make few large files of the many small ones of a run",
		Long: `Makes few Parquet files of the many small ones that ingesting often leaves, a day at a time, of at most a million requests
each. No row changes, and an input that is ingested again still adds nothing. It may be stopped or killed at any point: the
run reads the same, and the next call goes on. A second call does nothing. Files of replays stay as they are. Of a run in a
bucket, let one at a time be at work: nothing there keeps a second one out.`,
		Example: `  reprise compact run
  reprise compact s3://llm-logs/runs/prod`,
		Args: exactly("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			boundMemory()
			work := trace.Compact
			if store.Remote(args[0]) {
				work = a.compactBucket
			}
			c, err := work(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			for _, why := range c.Alone {
				a.talk("left as it is: %s", why)
			}
			if c.Days == 0 {
				fmt.Fprintf(a.out, "nothing to do: %s\n", size(c.Before))
			} else {
				fmt.Fprintf(a.out, "before: %s\nafter:  %s\n", size(c.Before), size(c.After))
			}
			a.talk("next: reprise analyze %s", args[0])
			return nil
		},
	}
}

func size(s trace.Size) string {
	return fmt.Sprintf("%s, %s, %.1f MB", counted(int64(s.Parts), "file"), counted(s.Rows, "request"), float64(s.Bytes)/1e6)
}

// compactBucket compacts a copy of a run on this machine and changes the bucket as a compaction changes a folder: lists,
// then the parts that they belong to, then what does not count any more goes.
func (a *app) compactBucket(ctx context.Context, url string) (did trace.Compaction, err error) {
	c, err := a.find(ctx, url)
	if err != nil {
		return did, err
	}
	inDays := func(o store.Object) bool { return strings.HasPrefix(o.Name, "day=") }
	copied, err := a.fetch(ctx, c, inDays)
	if err != nil {
		return did, err
	}
	root, err := stagingRoot()
	if err != nil {
		return did, err
	}
	dir, err := os.MkdirTemp(root, fmt.Sprintf("%d-", os.Getpid()))
	if err != nil {
		return did, err
	}
	defer os.RemoveAll(dir)
	before := map[string]bool{}
	for _, o := range c.found {
		if inDays(o) {
			before[o.Name] = true
			to := filepath.Join(dir, filepath.FromSlash(o.Name))
			if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
				return did, err
			}
			if err := os.Link(filepath.Join(copied, filepath.FromSlash(o.Name)), to); err != nil {
				return did, err
			}
		}
	}
	if len(before) == 0 {
		return did, fmt.Errorf("no run in %q: expected day=YYYY-MM-DD/PART.parquet, as reprise ingest writes it", url)
	}
	if did, err = trace.Compact(ctx, dir); err != nil {
		return did, err
	}
	for i, why := range did.Alone {
		did.Alone[i] = strings.ReplaceAll(why, dir, url)
	}
	return did, a.changeBucket(ctx, c.place, dir, before)
}

// changeBucket makes the day folders of a place as those of a folder; before are the objects of them.
func (a *app) changeBucket(ctx context.Context, p *store.Place, dir string, before map[string]bool) error {
	after := map[string]bool{}
	names, err := (&staged{local: dir}).fresh()
	if err != nil {
		return err
	}
	for _, name := range names {
		after[name] = true
	}
	put := func(name string) error { return p.Put(ctx, name, filepath.Join(dir, filepath.FromSlash(name))) }
	remove := func(name string) error { return p.Remove(ctx, name) }
	for _, step := range []struct {
		in, notIn map[string]bool
		lists     bool
		do        func(string) error
	}{{after, before, true, put}, {after, before, false, put}, {before, after, false, remove}, {before, after, true, remove}} {
		var some []string
		for name := range step.in {
			if !step.notIn[name] && isListObject(store.Object{Name: name}) == step.lists {
				some = append(some, name)
			}
		}
		if err := store.Each(some, step.do); err != nil {
			return err
		}
	}
	return nil
}
