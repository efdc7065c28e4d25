package queries

import (
	"cmp"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Source is a mounted run. Scan is the table expression that gives the raw columns. Some views have a plain form, which
// costs nothing, and one for runs that need it: Joined says that several rows may tell of one call, so that rows of
// one attempt become one (attempts_joined), Grouped that calls were tried again, so that attempts become calls
// (calls_grouped, callers_grouped).
//
// Mixed says that some times are of wall clocks and others are not: these then have no arrival_us, since the two cannot be
// set beside each other.
type Source struct {
	Scan                   string
	Metrics                string // what the target said of itself, as trace.Sample; "" without
	Joined, Grouped, Mixed bool
	Rows                   int64 // of the run; 0: not known
	Dialect                Dialect
	Verbatim               bool // a text that is composed is in the dialect already
}

// clock is the condition under which a row's arrival counts.
func (s Source) clock() string {
	if s.Mixed {
		return "clock_domain = 'wall'"
	}
	return "TRUE"
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
		text += q.quantileStage(src.Dialect)
	}
	return compose(src.Dialect.translate(text), Parameters(q), composition{src, sc, bounds(q, sc, values)})
}

// ComposeText puts the base views that a text names in front of it. The text begins with SELECT or WITH; only the parameters
// of the views can be given. A text of the user's own stays as it is, any other is translated to the dialect.
func ComposeText(text string, src Source, sc Scope, values map[string]string) (string, error) {
	text = strings.TrimRight(text, "; \n\t")
	q := Query{Text: text}
	if !src.Verbatim {
		text = src.Dialect.translate(text)
	}
	return compose(text, Parameters(q), composition{src, sc, bounds(q, sc, values)})
}

// bounds adds the range of the scope as from_us and to_us for a query that has these parameters.
func bounds(q Query, sc Scope, values map[string]string) map[string]string {
	out := maps.Clone(values)
	for name, us := range map[string]*int64{"from_us": sc.From, "to_us": sc.To} {
		if us != nil && slices.ContainsFunc(Parameters(q), func(p Param) bool { return p.Name == name }) {
			if out == nil {
				out = map[string]string{}
			}
			out[name] = strconv.FormatInt(*us, 10)
		}
	}
	return out
}

// Parameters returns the parameters of the query and of the views it uses, without doubles.
func Parameters(q Query) []Param {
	params := slices.Clone(q.Params)
	for _, name := range uses(q.Text, DuckDB.view) {
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
	literals, err := literals(params, c.values)
	if err != nil {
		return "", err
	}
	if cte := paramsCTE(params, literals); cte != "" {
		ctes = append(ctes, cte)
	}
	literals["step_us"] = step(params, c.values)
	literals["costs"] = costs(c.values["fits"])
	fill, err := c.placeholders(literals)
	if err != nil {
		return "", err
	}
	text = readParam.ReplaceAllStringFunc(text, func(s string) string { return cmp.Or(literals[readParam.FindStringSubmatch(s)[1]], s) })
	for _, name := range uses(text, c.viewText) {
		mode, mark, v := " AS NOT MATERIALIZED (", "", load().views[c.form(name)]
		switch {
		case v.Swept != "" && c.src.Dialect == DuckDB:
			mark = sweptMark + fill.Replace(v.Swept) + " */"
		case v.Kept != "":
			mark = keptMark
		}
		if mark != "" || v.Once != "" {
			mode = " AS MATERIALIZED ("
		}
		if c.src.Dialect != DuckDB {
			mode = " AS ("
		}
		ctes = append(ctes, name+mode+mark+"\n"+fill.Replace(c.viewText(name))+"\n) /* "+name+" */")
	}
	with := withWord.FindString(text)
	if len(ctes) == 0 {
		return c.src.Dialect.finish(text), nil
	}
	head := "WITH "
	if strings.Contains(strings.ToUpper(with), "RECURSIVE") {
		head = "WITH RECURSIVE "
	}
	join := "\n"
	if with != "" {
		join, text = ",\n", strings.TrimLeft(text[len(with):], " \n")
	}
	return c.src.Dialect.finish(head + strings.Join(ctes, ",\n") + join + text), nil
}

// costs are the fits without what they say of decodes, as a literal.
func costs(fits string) string {
	var list []map[string]json.RawMessage
	if json.Unmarshal([]byte(fits), &list) == nil { // else the engine says what is wrong
		for _, fit := range list {
			maps.DeleteFunc(fit, func(name string, _ json.RawMessage) bool {
				return name != "model" && name != "a_us" && name != "token_us"
			})
		}
		text, _ := json.Marshal(list)
		fits = string(text)
	}
	literal, _ := Param{Type: "TEXT"}.render(fits)
	return literal
}

// step is the longest stretch of time, a minute at most, that bins of the query's bin_us and whole minutes are made of: such counts serve both.
func step(params []Param, values map[string]string) string {
	a, b := int64(60_000_000), int64(0)
	if i := slices.IndexFunc(params, func(p Param) bool { return p.Name == "bin_us" }); i >= 0 {
		b, _ = strconv.ParseInt(params[i].value(values), 10, 64) // literals has checked it
	}
	for b > 0 {
		a, b = b, a%b
	}
	return strconv.FormatInt(a, 10)
}

// form is the view that stands in for one, as the source needs.
func (c composition) form(name string) string {
	switch {
	case name == "attempts" && c.src.Joined:
		return "attempts_joined"
	case (name == "calls" || name == "callers") && c.src.Grouped:
		return name + "_grouped"
	}
	return name
}

func (c composition) viewText(name string) string { return c.src.Dialect.view(c.form(name)) }

// readParam is how a query reads one parameter. It is replaced by the value: the engine then folds it, and leaves out
// what a parameter turns off.
var readParam = regexp.MustCompile(`\(SELECT ([a-z0-9_]+) FROM params\)`)

// noMetrics stands in for the samples of a run that has none.
const noMetrics = `(SELECT CAST(0 AS BIGINT) AS at_us, '' AS endpoint, '' AS name, '' AS labels, CAST(0 AS DOUBLE) AS value WHERE FALSE)`

// placeholders are filled in the text of views: the source, what the scope says, and the parameters as literals.
func (c composition) placeholders(literals map[string]string) (*strings.Replacer, error) {
	grp, err := group(c.scope.By)
	if err != nil {
		return nil, err
	}
	pairs := []string{"{source}", c.src.Scan, "{metrics}", cmp.Or(c.src.Metrics, noMetrics), "{grp}", grp, "{by}", columnList(c.scope.By), "{grouped}", strings.ToUpper(strconv.FormatBool(c.src.Grouped)), "{range}", c.src.arrivalRange(c.scope), "{clock}", c.src.clock(), "{unnamed}", "'" + Unnamed + "'"}
	for name, literal := range literals {
		pairs = append(pairs, "{"+name+"}", literal)
	}
	return strings.NewReplacer(pairs...), nil
}

// uses returns the base views that a text reads, and those that they read by the texts of view, each after the ones it needs.
func uses(text string, view func(name string) string) []string {
	var order []string
	seen := map[string]bool{}
	var visit func(text string)
	visit = func(text string) {
		for _, name := range possibleTables(text) {
			if _, ok := load().views[name]; !ok || seen[name] {
				continue
			}
			seen[name] = true
			visit(view(name))
			order = append(order, name)
		}
	}
	visit(text)
	return order
}

var noise = regexp.MustCompile(`--[^\n]*|/\*(?s:.*?)\*/|'(?:[^']|'')*'`)
