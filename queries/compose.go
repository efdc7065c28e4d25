package queries

import (
	"regexp"
	"slices"
	"strings"
)

// Source is a mounted run. Scan is the table expression that gives the raw columns; Joined says that the run holds
// several source formats, so that rows of one call become one row (base/attempts_joined.sql).
type Source struct {
	Scan   string
	Joined bool
}

// Scope narrows and groups. From and To bound the arrival, half open, in microseconds since 1970; nil is no bound. By
// names the columns of grp, each of [Dimensions].
type Scope struct {
	From, To *int64
	By       []string
}

// Compose returns the whole statement of a query: params, the base views that it names, its own CTEs, and the
// quantile stage when the header asks for it.
func Compose(q Query, src Source, sc Scope, values map[string]string) (string, error) {
	text := q.Text
	if q.Quantiles != nil {
		text += q.quantileStage()
	}
	return compose(text, Parameters(q), composition{src, sc, values})
}

// ComposeText puts the base views that a text of the user's own names in front of it. The text begins with SELECT or
// WITH; only the parameters of the views can be given.
func ComposeText(text string, src Source, sc Scope, values map[string]string) (string, error) {
	text = strings.TrimRight(text, "; \n\t")
	return compose(text, Parameters(Query{Text: text}), composition{src, sc, values})
}

// Parameters returns the parameters of the query and of the views it uses, without doubles.
func Parameters(q Query) []Param {
	params := slices.Clone(q.Params)
	for _, name := range uses(q.Text) {
		for _, p := range load().views[name].Params {
			if !slices.ContainsFunc(params, func(o Param) bool { return o.Name == p.Name }) {
				params = append(params, p)
			}
		}
	}
	return params
}

type composition struct {
	src    Source
	scope  Scope
	values map[string]string
}

var withWord = regexp.MustCompile(`^(?i)WITH(\s+RECURSIVE)?\s`)

func compose(text string, params []Param, c composition) (string, error) {
	var ctes []string
	p, err := renderParams(params, c.values)
	if err != nil {
		return "", err
	}
	if p != "" {
		ctes = append(ctes, p)
	}
	fill, err := c.placeholders()
	if err != nil {
		return "", err
	}
	for _, name := range uses(text) {
		mode := " AS NOT MATERIALIZED (\n"
		if load().views[name].Once != "" {
			mode = " AS MATERIALIZED (\n"
		}
		ctes = append(ctes, name+mode+fill.Replace(c.viewText(name))+"\n)")
	}
	with := withWord.FindString(text)
	if len(ctes) == 0 {
		return text, nil
	}
	head := "WITH "
	if strings.Contains(strings.ToUpper(with), "RECURSIVE") {
		head = "WITH RECURSIVE "
	}
	join := "\n"
	if with != "" {
		join, text = ",\n", strings.TrimLeft(text[len(with):], " \n")
	}
	return head + strings.Join(ctes, ",\n") + join + text, nil
}

// viewText returns the text of a view; attempts has two forms.
func (c composition) viewText(name string) string {
	if name == "attempts" && c.src.Joined {
		name = "attempts_joined"
	}
	return load().views[name].Text
}

func (c composition) placeholders() (*strings.Replacer, error) {
	grp, err := group(c.scope.By)
	if err != nil {
		return nil, err
	}
	return strings.NewReplacer("{source}", c.src.Scan, "{grp}", grp, "{range}", arrivalRange(c.scope)), nil
}

// uses returns the base views that a text names, and those that they name, each after the ones it needs. A view's own
// name inside it is a column.
func uses(text string) []string {
	var order []string
	var visit func(name, text string)
	visit = func(name, text string) {
		for _, word := range words(text) {
			v, ok := load().views[word]
			if !ok || word == name || slices.Contains(order, word) {
				continue
			}
			visit(word, v.Text)
			order = append(order, word)
		}
	}
	visit("", text)
	return order
}

// words returns the identifiers of a SQL text, without comments and string literals.
func words(text string) []string {
	return wordPattern.FindAllString(strings.ToLower(noise.ReplaceAllString(text, " ")), -1)
}

var (
	noise       = regexp.MustCompile(`--[^\n]*|/\*(?s:.*?)\*/|'(?:[^']|'')*'`)
	wordPattern = regexp.MustCompile(`[a-z_][a-z0-9_]*`)
)
