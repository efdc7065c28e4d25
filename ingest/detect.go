package ingest

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"reprise/ingest/decode"
)

// found is the outcome of detection.
type found struct {
	format   *decode.Format
	look     look
	signs    int
	runnerUp string // the next best format, "" without one
}

// minSigns is how many independent signs a format must see: one key alone is a coincidence.
const minSigns = 2

// maxLines is how many lines detection searches for records: a program says much when it starts.
const maxLines = 1000

// maxSample is how many records detection looks at: the first may be a health check or an error.
const maxSample = 50

// detect finds the container and the format of the input by its content, or only the container when the options say the
// format.
func detect(in *input, o Options) (found, error) {
	sampleHead, err := in.Peek(peekBytes)
	if len(sampleHead) == 0 {
		if err != nil && !errors.Is(err, io.EOF) {
			return found{}, err
		}
		return found{}, errEmpty
	}
	looks := lookAt(sampleHead, in)
	switch {
	case o.Map != nil:
		if best := choose([]decode.Format{*o.Map}, looks); best.format != nil {
			return found{format: o.Map, look: best.look}, nil
		}
		return found{}, fmt.Errorf("mapping %q does not read this kind of file: %s", o.Map.Name, o.Hash.Scrub(looks[0].describe()))
	case o.Format != "":
		return byName(o.Format, looks)
	}
	best := choose(Formats(), asObjects(looks))
	if best.signs < minSigns {
		best = choose(Formats(), looks)
	}
	if best.signs < minSigns {
		if err := refuseSummary(&looks[0]); err != nil {
			return best, err
		}
		return best, &HintError{fmt.Errorf("unknown format: %s", o.Hash.Scrub(looks[0].describe())), "list what is understood: reprise formats; name it: -f NAME"}
	}
	return best, nil
}

// asObjects leaves out reading lines of JSON objects as text: it takes all patterns of text to search them, ten times as
// long as the rest of detection, and is only for objects that nobody knows.
func asObjects(looks []look) []look {
	if len(looks) > 1 && len(looks[0].Records) > 0 && looks[0].container != jsonBehind {
		return slices.DeleteFunc(slices.Clone(looks), func(l look) bool { return l.container == textLines })
	}
	return looks
}

// ownName refuses a mapping of the user's whose rows would be taken for those of another format.
func ownName(m *decode.Format) error {
	if m != nil && slices.ContainsFunc(Formats(), func(f decode.Format) bool { return f.Name == m.Name }) {
		return &HintError{fmt.Errorf("mapping %q has the name of a format that comes with reprise", m.Name), "give it a name of its own, such as my-" + m.Name}
	}
	return nil
}

// choose returns the format that sees the most signs, in the look where it does; of equal ones the first, and of formats
// that see none the first that reads the container.
func choose(formats []decode.Format, looks []look) (best found) {
	second := 0
	for i := range formats {
		f, signs := &formats[i], -1
		var in look
		for _, l := range looks {
			if !fits(f, &l) {
				continue
			}
			n := 0
			if f.Detect != nil { // a format that is named need not know itself
				n = f.Detect(&l.Sample)
			}
			if l.wrapper != nil && n >= minSigns {
				n += l.wrapper.signs()
			}
			if n > signs {
				in, signs = l, n
			}
		}
		switch {
		case signs < 0:
		case best.format == nil || signs > best.signs:
			if best.format != nil && best.signs > 0 {
				best.runnerUp, second = best.format.Name, best.signs
			}
			best.format, best.look, best.signs = f, in, signs
		case signs > second:
			best.runnerUp, second = f.Name, signs
		}
	}
	return best
}

var errEmpty = errors.New("file is empty")

func fits(f *decode.Format, l *look) bool {
	c := l.container
	if l.asText {
		c = textLines
	}
	if f.Group != nil {
		g := f.Group()
		return g.JSON != nil && (c == jsonLines || c == jsonDocuments || c == jsonBehind) || g.Line != nil && c == textLines
	}
	switch c {
	case jsonLines, jsonDocuments, jsonFramed, jsonBehind:
		return f.JSON != nil
	case csvRows:
		return f.CSV != nil
	case textLines:
		return f.Line != nil
	case binaryFramed, binaryWhole:
		return f.Message != nil
	}
	return false
}

func byName(want string, looks []look) (found, error) {
	var names []string
	all := Formats()
	for i := range all {
		if f := &all[i]; f.Name == want {
			best := choose(all[i:i+1], looks)
			if best.format == nil {
				return found{}, fmt.Errorf("format %q does not come in this kind of file", want)
			}
			return found{format: f, look: best.look}, nil
		}
		names = append(names, all[i].Name)
	}
	return found{}, &HintError{fmt.Errorf("unknown format %q", want), "one of: " + strings.Join(names, ", ")}
}
