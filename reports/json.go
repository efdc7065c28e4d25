package reports

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"reprise/analyze"
)

// JSONWriter writes one result as cli.md describes it: one JSON object, rows as objects with the columns in order,
// times as microseconds since 1970, unknown as null. A number that JSON cannot hold is null and adds the warning
// not_finite. The object ends with a newline.
func JSONWriter(w io.Writer) analyze.Writer { return &jsonWriter{out: bufio.NewWriter(w)} }

type jsonWriter struct {
	out       *bufio.Writer
	columns   []analyze.Column
	separator string
	lost      int
}

func (j *jsonWriter) Begin(r *analyze.Result) error {
	j.columns = r.Columns
	head, _, err := aroundRows(headOf(r))
	j.out.Write(head)
	j.out.WriteString(`"rows":[`)
	return err
}

func (j *jsonWriter) Row(row []any) error {
	var b bytes.Buffer
	err := encode(&b, jsonRow{j.columns, row})
	j.out.WriteString(j.separator)
	j.separator = ","
	j.lost += lost(row)
	_, failed := j.out.Write(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
	return errors.Join(err, failed)
}

func (j *jsonWriter) End(r *analyze.Result) error {
	whole := headOf(r)
	whole.Warnings = append(whole.Warnings, notFinite(j.lost)...)
	_, tail, err := aroundRows(whole)
	j.out.WriteString("]")
	j.out.Write(tail)
	return errors.Join(err, j.out.Flush())
}

// aroundRows is what stands before the rows of a result without any as JSON, and after them. No text in it can look like the member: its quotes are escaped.
func aroundRows(r jsonResult) (before, after []byte, err error) {
	var b bytes.Buffer
	err = encode(&b, r)
	before, after, _ = bytes.Cut(b.Bytes(), []byte(`"rows":[]`))
	return before, after, err
}

// encode writes v as one line. Names keep their < and >: this is JSON for programs, the page escapes for itself.
func encode(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

type jsonResult struct {
	Query    string            `json:"query"`
	Title    string            `json:"title"`
	About    string            `json:"about,omitempty"`
	Level    string            `json:"level,omitempty"`
	Params   map[string]string `json:"params"`
	Columns  []analyze.Column  `json:"columns"`
	Rows     []jsonRow         `json:"rows"`
	Warnings []analyze.Warning `json:"warnings"`
	Coverage analyze.Coverage  `json:"coverage"`
}

// headOf is a result without its rows. Empty lists and maps are made of nil ones: a reader should not meet null where the shape says list.
func headOf(r *analyze.Result) jsonResult {
	out := jsonResult{Query: r.Query, Title: r.Title, About: r.About, Level: r.Level, Params: r.Params,
		Columns: append([]analyze.Column{}, r.Columns...), Rows: []jsonRow{},
		Warnings: append([]analyze.Warning{}, r.Warnings...), Coverage: r.Coverage}
	if out.Params == nil {
		out.Params = map[string]string{}
	}
	if out.Coverage.Excluded == nil {
		out.Coverage.Excluded = map[string]int64{}
	}
	return out
}

func resultOf(r *analyze.Result) jsonResult {
	out, n := headOf(r), 0
	for _, row := range r.Rows {
		out.Rows = append(out.Rows, jsonRow{r.Columns, row})
		n += lost(row)
	}
	out.Warnings = append(out.Warnings, notFinite(n)...)
	return out
}

// lost is how many values of a row JSON cannot hold.
func lost(row []any) int {
	n := 0
	for _, v := range row {
		if v != nil && finite(v) == nil {
			n++
		}
	}
	return n
}

func notFinite(n int) []analyze.Warning {
	if n == 0 {
		return nil
	}
	return []analyze.Warning{{Code: "not_finite", Message: fmt.Sprintf("%d values are infinite or undefined and are written as null", n)}}
}

// finite returns nil for NaN and infinities and everything else as it is. Lists come without them (analyze.Result).
func finite(v any) any {
	if f, ok := v.(float64); ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
		return nil
	}
	return v
}

// jsonRow is a row as an object whose keys keep the order of the columns, which a map would not.
type jsonRow struct {
	cols []analyze.Column
	vals []any
}

func (r jsonRow) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	b.WriteByte('{')
	for i, c := range r.cols {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := enc.Encode(c.Name); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := enc.Encode(finite(c.Named(r.vals[i]))); err != nil {
			return nil, fmt.Errorf("column %q: %w", c.Name, err)
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// WriteJSON writes a whole report: its words, and each section's result as [JSONWriter] has it.
func WriteJSON(w io.Writer, r Report) error {
	out := jsonReport{r.Title, r.Subtitle, r.Verdict, some(r.Answer), []jsonFigure{}, some(r.Notes), []jsonSection{}, some(r.Next), []jsonFact{}}
	for _, f := range r.Facts {
		out.Facts = append(out.Facts, jsonFact(f))
	}
	for _, f := range r.Figures {
		out.Figures = append(out.Figures, jsonFigure(f))
	}
	for _, s := range r.Sections {
		js := jsonSection{ID: s.ID, Title: s.Title, Missing: s.Missing}
		if s.Result != nil && s.Missing == "" {
			res := resultOf(s.Result)
			js.Result = &res
		}
		out.Sections = append(out.Sections, js)
	}
	return encode(w, out)
}

func some(list []string) []string { return append([]string{}, list...) }

type jsonReport struct {
	Title    string        `json:"title"`
	Subtitle string        `json:"subtitle"`
	Verdict  string        `json:"verdict"`
	Answer   []string      `json:"answer"`
	Figures  []jsonFigure  `json:"figures"`
	Notes    []string      `json:"notes"`
	Sections []jsonSection `json:"sections"`
	Next     []string      `json:"next"`
	Facts    []jsonFact    `json:"facts"`
}

type jsonFact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type jsonFigure struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Note  string `json:"note"`
}

type jsonSection struct {
	ID      string      `json:"id"`
	Title   string      `json:"title"`
	Missing string      `json:"missing,omitempty"` // why result is null
	Result  *jsonResult `json:"result"`
}
