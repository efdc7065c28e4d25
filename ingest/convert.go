package ingest

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// Options are the choices of one ingest.
type Options struct {
	decode.Options
	Run     string         // folder to write to
	Format  string         // name of the format; "" finds it by content
	Since   *int64         // keep arrivals from here on, microseconds since 1970
	Until   *int64         // and before here
	Map     *decode.Format // the user's own format, in place of Format
	MapID   string         // identity of its text: another mapping is another part
	KeyID   string         // identity of the hashing key: another key is another part
	Workers int            // decoders side by side; 0 is 1
	Stdin   io.Reader      // what "-" reads
	StdinAs string         // and the name of its file in rows; "" is stdin

	// Remote gives what an input stands for that is no file of this machine; nothing for one that is. It may be nil.
	Remote   func(ctx context.Context, input string) ([]Remote, error)
	Progress func(file string, bytes int) // called now and then with plain bytes read; may be nil
}

// recordVersion is part of every part's identity: raise it when the meaning of a stored field changes.
const recordVersion = "4"

// Run ingests the inputs in order and returns the account. A file that cannot be read ends the run with an error after
// what came before it is stored; a file of a folder that is no log, or cannot be read, is named in Account.NotLogs.
func Run(ctx context.Context, o Options, inputs ...string) (*Account, error) {
	if err := ownName(o.Map); err != nil {
		return nil, err
	}
	files, err := expand(ctx, o, inputs)
	if err != nil {
		return nil, err
	}
	a := &Account{Totals: newFileAccount(""), Coverage: map[string]int64{}}
	seen := map[string]string{}
	for _, f := range files {
		fa, err := convert(ctx, o, f, seen)
		var store storeError
		var read unreadable
		switch {
		case err != nil && !f.named && ctx.Err() == nil && !errors.As(err, &store) && !errors.As(err, &read):
			a.NotLogs = append(a.NotLogs, LeftOut{f.name, strings.TrimPrefix(err.Error(), f.name+": ")})
			continue
		case err != nil:
			return a, err
		}
		a.add(fa)
	}
	if len(a.Inputs) == 0 {
		return a, &HintError{fmt.Errorf("%s: no logs found in %d files", strings.Join(inputs, " "), len(files)), "list what is understood: reprise formats"}
	}
	return a, nil
}

// storeError is an error of the run that is written, not of an input.
type storeError struct{ error }

func (e storeError) Unwrap() error { return e.error }

// convert stores one input as parts. seen maps the identity of inputs to their names.
func convert(ctx context.Context, o Options, f file, seen map[string]string) (fa FileAccount, err error) {
	in, err := open(f, o.Stdin, o.Hash)
	if err != nil {
		return fa, err
	}
	defer in.Close()
	if f.name == Stdin && o.StdinAs != "" {
		in.base = o.StdinAs
	}
	fa, err = in.convert(ctx, o, f.name, seen)
	if err != nil && in.remote.err() != nil {
		err = in.remote.err() // whatever it looked like from above
	}
	return fa, err
}

func (in *input) convert(ctx context.Context, o Options, name string, seen map[string]string) (fa FileAccount, err error) {
	f, err := detect(in, o)
	if err != nil {
		return fa, wrapName(name, err)
	}
	w, err := trace.NewWriter(o.Run)
	if err != nil {
		return fa, storeError{err}
	}
	defer w.Abort()
	fa = newFileAccount(name)
	fa.Format, fa.Confidence, fa.RunnerUp = f.format.Name, f.signs, f.runnerUp
	c := &conversion{Options: o, in: in, found: f, account: &fa, writer: w}
	if err := c.run(ctx); err != nil {
		return fa, fmt.Errorf("%s: %w", name, err)
	}
	if err := in.remote.err(); err != nil { // not the end of the data
		return fa, err
	}
	if fa.Kept == 0 {
		fa.warn(noneKept(f, &fa))
		return fa, nil
	}
	if n := fa.Quality[trace.QHourTwice]; n > 0 {
		fa.warn(fmt.Sprintf("requests with a time that the clock of %s shows twice, when summer time ends: %d; which of the two is not known, so the rates of both hours are wrong", o.Zone, n))
	}
	part := c.part()
	if first, again := seen[part]; again {
		fa.DuplicateOf, fa.Duplicates = first, fa.Kept
		fa.Skipped["duplicate_file"], fa.Kept = fa.Kept, 0
		return fa, nil
	}
	seen[part] = name
	forPart := fa
	forPart.File, forPart.Warnings = in.base, nil // no path of this machine in a run
	stored, err := json.Marshal(forPart)
	if err != nil {
		return fa, err
	}
	fa.Parts, fa.Added, err = w.Commit(part, map[string]string{"reprise.account": string(stored), "reprise.format": f.format.Name})
	if err != nil {
		return fa, storeError{err}
	}
	fa.known = w.Known()
	return fa, nil
}

func wrapName(name string, err error) error {
	var hint *HintError
	if errors.As(err, &hint) {
		return &HintError{fmt.Errorf("%s: %w", name, hint.Err), hint.Hint}
	}
	return fmt.Errorf("%s: %w", name, err)
}

func noneKept(f found, fa *FileAccount) string {
	return fmt.Sprintf("no request in it: read as %s, %d records, %d rejected, %d skipped", f.format.Name, fa.Read, sum(fa.Rejected), sum(fa.Skipped))
}

// part names the parts of the input after everything that decides their bytes: the content and the choices.
func (c *conversion) part() string {
	h := sha256.New()
	fmt.Fprintf(h, "%x|%s|%s%s|%s|%s|%v|%v|%s|%s|%s", c.in.content.sum(), recordVersion, c.found.format.Name, c.MapID, c.KeyID,
		c.Vantage, c.PlainUser, c.KeepBodies, zone(c.Options.Options), bound(c.Since), bound(c.Until))
	if c.Year != 0 {
		fmt.Fprintf(h, "|year %d", c.Year)
	}
	if len(c.HashNames) > 0 {
		fmt.Fprintf(h, "|%s", slices.Sorted(slices.Values(c.HashNames)))
	}
	return fmt.Sprintf("%s-%x", c.found.format.Name, h.Sum(nil)[:8])
}

func zone(o decode.Options) string {
	if o.Zone == nil {
		return "UTC"
	}
	return o.Zone.String()
}

func bound(us *int64) string {
	if us == nil {
		return ""
	}
	return fmt.Sprint(*us)
}
