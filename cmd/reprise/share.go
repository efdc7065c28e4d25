package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"reprise/analyze"
	"reprise/export"
	"reprise/ingest/trace"
	"reprise/reports"
)

// shareFlag adds --share: what leaves a report names nobody.
func shareFlag(cmd *cobra.Command, share *bool) {
	cmd.Flags().BoolVar(share, "share", false, "hash all names and ids in what is written, so that it may leave (key: --key-file); makes a copy of the run for it")
}

// sharing makes copies of runs with all names hashed. An analysis of a copy can tell no name, whichever way it takes:
// table, chart, warning, proposal or SQL.
type sharing struct {
	dir   string // of the copies; they go with close
	names *export.Names
}

// newSharing is nil when nothing is to be shared: runs stay as they are then.
func newSharing(asked bool, f *ingestFlags) (*sharing, error) {
	if !asked {
		return nil, nil
	}
	names, err := leaving(f, nil)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "reprise-share-")
	return &sharing{dir, names}, err
}

func (s *sharing) close() {
	if s != nil {
		os.RemoveAll(s.dir)
	}
}

// copy makes the copy of a run under a name that says nothing.
func (s *sharing) copy(ctx context.Context, run *analyze.Run, name string) (*analyze.Run, error) {
	if s == nil {
		return run, nil
	}
	dir := filepath.Join(s.dir, name)
	for _, part := range run.Parts {
		if err := s.part(ctx, part, dir, strings.TrimSuffix(filepath.Base(part), ".parquet")); err != nil {
			return nil, fmt.Errorf("hashing names: %w", err)
		}
	}
	copied, err := analyze.Open(dir)
	if err == nil {
		copied.Path = name
	}
	return copied, err
}

func (s *sharing) part(ctx context.Context, part, dir, name string) error {
	meta, _, _, err := trace.Meta(part)
	if err != nil {
		return err
	}
	w, err := trace.NewWriter(dir)
	if err != nil {
		return err
	}
	defer w.Abort()
	for r, err := range s.names.Rows(until(ctx, trace.Read(part))) {
		if err != nil {
			return err
		}
		if err := w.Add(&r); err != nil {
			return err
		}
	}
	kept := map[string]string{}
	for _, key := range []string{"reprise.replay", trace.Repeated} { // whether a replay can be trusted, whether calls stand twice
		if said, ok := meta[key]; ok {
			kept[key] = said
		}
	}
	_, _, err = w.Commit(name, kept)
	return err
}

// clean takes the place of the copies out of the SQL that a page shows.
func (s *sharing) clean(r *reports.Report) {
	for i := range r.Sections {
		if res := r.Sections[i].Result; s != nil && res != nil {
			res.SQL = strings.ReplaceAll(res.SQL, s.dir+string(filepath.Separator), "")
		}
	}
}
