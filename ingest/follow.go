package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"reprise/ingest/decode"
	"reprise/layout"
)

// Follower keeps a run up to date with a log that grows, or with a folder of them. What a file gained since it was last sealed is one
// part, made again as it grows, so that a reader never meets half a request and a run does not gather thousands of small
// parts. A file that was moved away is read to its end, the one in its place from its beginning; one that was cut off or
// written anew is read from its beginning, and what was read before stays.
type Follower struct {
	o     Options
	path  string
	tails []*tail
	names map[string]int // of files, with how many contents each had
	seal  int64
	// Why says of files that gave no request yet, by name, why.
	Why map[string]string
}

const (
	sealBytes  = 32 << 20 // what lies behind a part is read again at most this far
	headBytes  = 256      // by which a file that was written anew is told
	idleRounds = 60       // after which a file that does not grow is closed
)

// Follow begins to follow a file or a folder. Close it.
func Follow(o Options, path string) *Follower {
	return &Follower{o: o, path: path, names: map[string]int{}, seal: sealBytes, Why: map[string]string{}}
}

// Close closes the files. The run stays as it is.
func (f *Follower) Close() {
	for _, t := range f.tails {
		t.close()
	}
}

// Step takes in what was written since the last one, and says whether the run changed. An error is one of the run, or of
// ctx; a file that cannot be read, or holds no request yet, is named in Why.
func (f *Follower) Step(ctx context.Context) (changed bool, err error) {
	if err := ownName(f.o.Map); err != nil {
		return false, err
	}
	f.find()
	for _, t := range f.tails {
		grown, err := t.step(ctx)
		var store storeError
		if ctx.Err() != nil || errors.As(err, &store) {
			return changed, errors.Join(ctx.Err(), err)
		}
		if err != nil {
			f.Why[t.path] = strings.TrimPrefix(err.Error(), Stdin+": ")
		} else if grown {
			delete(f.Why, t.path)
		}
		changed = changed || grown
	}
	f.tails = slices.DeleteFunc(f.tails, func(t *tail) bool { return t.gone && t.idle > 1 && t.close() })
	return changed, nil
}

// find matches the files that are there now with those that are followed, by what they are and not by their names.
func (f *Follower) find() {
	for _, t := range f.tails {
		t.gone = true
	}
	files, err := expandOne(context.Background(), f.o, f.path)
	if err != nil {
		files = nil // between the moves of a rotation there may be none
	}
	for _, file := range files {
		info, err := os.Stat(file.name)
		if err != nil || info.IsDir() {
			continue
		}
		i := slices.IndexFunc(f.tails, func(t *tail) bool { return os.SameFile(t.info, info) })
		if i < 0 {
			i, f.tails = len(f.tails), append(f.tails, &tail{Follower: f, began: file.name, number: f.content(file.name)})
		}
		t := f.tails[i]
		t.path, t.info, t.gone = file.name, info, false
	}
}

// content numbers the contents that a name had.
func (f *Follower) content(name string) int {
	f.names[name]++
	return f.names[name] - 1
}

// tail is one file that is followed.
type tail struct {
	*Follower
	path, began string // where it is now, and where it was first
	info        os.FileInfo
	file        *os.File // nil while it does not grow
	head        []byte
	base, end   int64 // what lies between is in parts; what lies before base is sealed
	size        int64 // at the last look
	number      int   // which of the contents that its first name had
	format      string
	parts       []string
	idle        int
	gone        bool // no longer at any path that is followed
}

func (t *tail) close() bool {
	if t.file != nil {
		t.file.Close()
		t.file = nil
	}
	return true
}

// step takes in what a file gained.
func (t *tail) step(ctx context.Context) (changed bool, err error) {
	if t.file == nil {
		if t.info.Size() == t.size && t.size > 0 || t.gone {
			t.idle++
			return false, nil
		}
		if t.file, err = os.Open(t.path); err != nil {
			return false, err
		}
	}
	stop, err := t.look()
	if err != nil || stop <= t.end {
		if t.idle++; t.idle > idleRounds && !t.gone {
			t.close()
		}
		return false, err
	}
	t.idle = 0
	return t.take(ctx, t.o, stop)
}

// look returns up to where the file can be read: to the end of its last whole line, or to its end when it stopped growing.
func (t *tail) look() (stop int64, err error) {
	info, err := t.file.Stat()
	if err != nil {
		return 0, err
	}
	size, resting := info.Size(), info.Size() == t.size
	t.size = size
	head := make([]byte, headBytes)
	n, err := t.file.ReadAt(head, 0)
	if head = head[:n]; err != nil && err != io.EOF {
		return 0, err
	}
	if size < t.end || !bytes.HasPrefix(head, t.head) {
		t.number, t.base, t.end, t.parts, resting = t.content(t.began), 0, 0, nil, false
	}
	t.head = head
	if resting || packed(head) {
		return size, nil
	}
	return t.lastLine(size)
}

// packed says that the content is compressed, so that newlines mean nothing.
func packed(head []byte) bool {
	return bytes.HasPrefix(head, []byte{0x1f, 0x8b}) || bytes.HasPrefix(head, zstdMagic)
}

// lastLine is the place behind the last newline after end; end when there is none.
func (t *tail) lastLine(size int64) (int64, error) {
	buf := make([]byte, 64<<10)
	for to := size; to > t.end; {
		from := max(t.end, to-int64(len(buf)))
		b := buf[:to-from]
		if _, err := t.file.ReadAt(b, from); err != nil && err != io.EOF {
			return 0, err
		}
		if i := bytes.LastIndexByte(b, '\n'); i >= 0 {
			return from + int64(i) + 1, nil
		}
		to = from
	}
	return t.end, nil
}

// take makes the part of what lies between base and stop, in place of the one made before.
func (t *tail) take(ctx context.Context, o Options, stop int64) (changed bool, err error) {
	if o.Format == "" && o.Map == nil {
		o.Format = t.format
	}
	o.Stdin, o.StdinAs = io.NewSectionReader(t.file, t.base, stop-t.base), filepath.Base(t.began)
	if t.number > 0 || t.base > 0 { // ids made of a place in a file must not meet
		o.StdinAs += fmt.Sprintf("@%d+%d", t.number, t.base)
	}
	a, err := Run(ctx, o, Stdin)
	if err != nil {
		if ctx.Err() == nil {
			t.end = stop // look again when there is more
		}
		return false, err
	}
	in := a.Inputs[0]
	for _, old := range t.parts {
		if !slices.Contains(in.Parts, old) && !strings.HasPrefix(filepath.Base(old), layout.Compacted) { // that holds rows of others, too
			if err := os.Remove(old); err != nil && !os.IsNotExist(err) {
				return false, storeError{err}
			}
		}
	}
	t.parts, t.end = in.Parts, stop
	if in.Kept == 0 {
		return false, errors.New(strings.Join(append(in.Warnings, "no request yet"), "; "))
	}
	t.format = in.Format
	if stop-t.base >= t.seal && t.splits(o) {
		t.base, t.parts = stop, nil
	}
	return true, nil
}

// splits says whether what follows can be read without what came before: one record a line, none of which needs another.
func (t *tail) splits(o Options) bool {
	i := slices.IndexFunc(Formats(), func(f decode.Format) bool { return f.Name == t.format })
	f := o.Map
	if i >= 0 {
		f = &Formats()[i]
	}
	if f == nil || f.Group != nil || f.Message != nil {
		return false
	}
	if f.Line != nil && f.JSON == nil && f.CSV == nil {
		return true
	}
	last := make([]byte, min(t.end-t.base, 1<<20))
	if _, err := t.file.ReadAt(last, t.end-int64(len(last))); err != nil {
		return false
	}
	last = bytes.TrimSuffix(last, []byte("\n"))
	last = last[bytes.LastIndexByte(last, '\n')+1:]
	return bytes.HasPrefix(t.head, []byte("{")) && bytes.HasPrefix(last, []byte("{")) && bytes.HasSuffix(bytes.TrimSpace(last), []byte("}"))
}
