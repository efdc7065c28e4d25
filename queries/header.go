package queries

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

var identifier = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// Parse reads the header and text of one file. file is its path inside the catalogue: a file in base/ is a view, whose
// header may hold about, param and once only. Errors begin with file:line.
func Parse(file, text string) (Query, error) {
	q := Query{Name: strings.TrimSuffix(path.Base(file), ".sql")}
	view := strings.HasPrefix(file, "base/")
	lines := strings.Split(text, "\n")
	n := 0
	for ; n < len(lines) && strings.HasPrefix(lines[n], "--"); n++ {
		word, rest, _ := strings.Cut(strings.TrimSpace(lines[n][2:]), " ")
		if view && word != "about" && word != "param" && word != "once" && word != "kept" && word != "swept" {
			return q, fmt.Errorf("%s:%d: a view has about, param, once, kept and swept lines, got %q", file, n+1, word)
		}
		if err := q.header(word, strings.TrimSpace(rest)); err != nil {
			return q, fmt.Errorf("%s:%d: %w", file, n+1, err)
		}
	}
	q.Text = strings.TrimRight(strings.Join(lines[n:], "\n"), "; \n\t")
	if err := q.complete(view); err != nil {
		return q, fmt.Errorf("%s:%d: %w", file, n+1, err)
	}
	return q, nil
}

// header takes one header line.
func (q *Query) header(word, rest string) error {
	if rest == "" {
		return fmt.Errorf("header line %q has no value", word)
	}
	f := strings.Fields(rest)
	switch word {
	case "title":
		return setOnce(&q.Title, word, rest)
	case "about":
		q.About = strings.TrimSpace(q.About + " " + rest)
	case "once":
		return setOnce(&q.Once, word, rest)
	case "kept":
		return setOnce(&q.Kept, word, rest)
	case "swept":
		if sweep, views, ok := strings.Cut(rest, " | "); !ok || sweep == "" || views == "" {
			return fmt.Errorf("expected swept NAME [ARGUMENT ...] | VIEW ..., got %q", rest)
		}
		return setOnce(&q.Swept, word, rest)
	case "level":
		if !slices.Contains([]string{"L0", "L1", "L2", "L3", "L4", "L5"}, rest) {
			return fmt.Errorf("level must be L0 to L5, got %q", rest)
		}
		return setOnce(&q.Level, word, rest)
	case "metric":
		f := strings.SplitN(rest, " | ", 3)
		if len(f) < 3 {
			return fmt.Errorf("expected metric NAME | UNIT | FORMULA, got %q", rest)
		}
		q.Metrics = append(q.Metrics, Metric{f[0], strings.TrimPrefix(f[1], "-"), f[2]})
	case "chart":
		if !slices.Contains([]string{"line", "bar", "cdf", "heat"}, f[0]) {
			return fmt.Errorf("chart must be line, bar, cdf or heat, got %q", f[0])
		}
		return setOnce(&q.Chart, word, rest)
	case "param":
		return q.param(f)
	case "key":
		return q.key(f)
	case "column":
		return q.column(f)
	case "quantiles":
		return q.quantiles(f)
	default:
		return fmt.Errorf("unknown header line %q", word)
	}
	return nil
}

func setOnce(field *string, word, value string) error {
	if *field != "" {
		return fmt.Errorf("second %s line", word)
	}
	*field = value
	return nil
}

func (q *Query) param(f []string) error {
	if len(f) < 2 || !identifier.MatchString(f[0]) {
		return fmt.Errorf("expected param NAME TYPE [DEFAULT], got %q", strings.Join(f, " "))
	}
	p := Param{Name: f[0], Type: f[1], Default: strings.Join(f[2:], " ")}
	if _, err := literals([]Param{p}, nil); err != nil {
		return err
	}
	if slices.ContainsFunc(q.Params, func(o Param) bool { return o.Name == p.Name }) {
		return fmt.Errorf("second param %q", p.Name)
	}
	q.Params = append(q.Params, p)
	return nil
}

func (q *Query) key(f []string) error {
	c := Column{Name: f[0], Unit: "text", Better: "none"}
	if len(f) == 2 {
		c.Unit = f[1]
	}
	if len(f) > 2 || !identifier.MatchString(f[0]) {
		return fmt.Errorf("expected key NAME [UNIT], got %q", strings.Join(f, " "))
	}
	if q.has(c.Name) {
		return fmt.Errorf("second column %q", c.Name)
	}
	q.Keys = append(q.Keys, c)
	return nil
}

func (q *Query) column(f []string) error {
	if len(f) != 3 || !identifier.MatchString(f[0]) || !slices.Contains([]string{"higher", "lower", "none"}, f[2]) {
		return fmt.Errorf("expected column NAME UNIT higher|lower|none, got %q", strings.Join(f, " "))
	}
	if q.has(f[0]) {
		return fmt.Errorf("second column %q", f[0])
	}
	q.Columns = append(q.Columns, Column{f[0], f[1], f[2]})
	return nil
}

func (q *Query) has(name string) bool {
	return slices.ContainsFunc(slices.Concat(q.Keys, q.Columns), func(c Column) bool { return c.Name == name })
}

func (q *Query) quantiles(f []string) error {
	z := &Quantiles{Value: f[0], Divisor: "1"}
	rest := f[1:]
	if len(rest) > 0 && !slices.Contains([]string{"whole", "weight", "type1"}, rest[0]) {
		z.Divisor, rest = rest[0], rest[1:]
	}
	ok := q.Quantiles == nil && identifier.MatchString(z.Value)
	for ok && len(rest) > 0 {
		switch {
		case rest[0] == "whole" && z.Weight == "":
			z.Whole, rest = true, rest[1:]
		case rest[0] == "weight" && !z.Whole && len(rest) > 1 && identifier.MatchString(rest[1]):
			z.Weight, rest = rest[1], rest[2:]
		case rest[0] == "type1" && len(rest) > 1:
			z.Type1, rest = strings.Join(rest[1:], " "), nil
		default:
			ok = false
		}
	}
	if !ok {
		return fmt.Errorf("expected one line quantiles VALUE [DIVISOR] [whole | weight COLUMN] [type1 CONDITION], got %q", strings.Join(f, " "))
	}
	q.Quantiles = z
	_, err := Param{Name: "divisor", Type: "DOUBLE"}.render(z.Divisor)
	return err
}

// complete checks what a whole file must have.
func (q *Query) complete(view bool) error {
	switch {
	case q.Text == "":
		return fmt.Errorf("no text after the header")
	case view:
		return nil
	case q.Title == "", q.About == "", q.Level == "":
		return fmt.Errorf("header needs title, about and level")
	case !strings.HasPrefix(q.Text, "WITH\n") && !strings.HasPrefix(q.Text, "WITH "):
		return fmt.Errorf("text must begin with WITH, got %q", firstLine(q.Text))
	case q.Quantiles != nil && len(q.Keys) == 0 && q.Quantiles.Weight != "":
		return fmt.Errorf("quantiles with a weight need a key")
	case q.Quantiles != nil:
		return q.quantileColumns()
	case len(q.Columns) == 0:
		return fmt.Errorf("header has no column line")
	}
	return nil
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
