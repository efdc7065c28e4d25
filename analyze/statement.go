package analyze

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"reprise/queries"
)

// derived are the parameters that analyze works out from the run where they are not given.
var derived = []string{"fits", "curves", "ranks", "changes"}

// Statement is a query as text for another program: what runs on the engine of src, and which parameters are left empty that analyze
// would work out from the run (fits, ranks ...).
func Statement(name string, src queries.Source, sc Scope, params map[string]string) (text string, open []string, err error) {
	q, err := queries.Get(name)
	if err != nil {
		return "", nil, err
	}
	values, err := givenValues(q, sc, params)
	if err != nil {
		return "", nil, fmt.Errorf("query %s: %w", name, err)
	}
	text, err = queries.Compose(q, src, queries.Scope{From: sc.From, To: sc.To, By: sc.By}, values)
	for _, p := range queries.Parameters(q) {
		if slices.Contains(derived, p.Name) && values[p.Name] == "" {
			open = append(open, p.Name)
		}
	}
	return text, open, err
}

// Text returns the statement that Query would run.
func (e *Engine) Text(ctx context.Context, r *Run, name string, sc Scope, params map[string]string) (string, error) {
	q, err := queries.Get(name)
	if err != nil {
		return "", err
	}
	res, _, err := e.statement(ctx, r, q, sc, params)
	if err != nil {
		return "", fmt.Errorf("query %s: %w", name, err)
	}
	return res.SQL, nil
}

// statement is the result of a query before it has run: header, parameters and text, and what the parameters that
// analyze works out warn of.
func (e *Engine) statement(ctx context.Context, r *Run, q queries.Query, sc Scope, params map[string]string) (*Result, []Warning, error) {
	values, warnings, err := e.workedOut(ctx, r, q, sc, params)
	if err != nil {
		return nil, nil, err
	}
	src, err := e.mount(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	text, err := queries.Compose(q, src, queries.Scope{From: sc.From, To: sc.To, By: sc.By}, values)
	return &Result{Query: q.Name, Title: q.Title, About: q.About, Level: q.Level, Chart: q.Chart, Params: shown(q, values), SQL: text,
		Columns: headerColumns(q)}, warnings, err
}

// workedOut are all parameters of a query: those given, the SLO's, and those that follow from the run.
func (e *Engine) workedOut(ctx context.Context, r *Run, q queries.Query, sc Scope, params map[string]string) (map[string]string, []Warning, error) {
	params, warnings, err := e.withFits(ctx, r, q, params)
	if err != nil {
		return nil, nil, err
	}
	if params, err = e.withCurves(ctx, r, q, sc, params); err != nil {
		return nil, nil, err
	}
	if params, err = e.withChanges(ctx, r, q, sc, params); err != nil {
		return nil, nil, err
	}
	if hasParam(q, "ranks") {
		if params, err = e.withRanks(ctx, r, sc, params); err != nil {
			return nil, nil, err
		}
	}
	values, err := givenValues(q, sc, params)
	return values, warnings, err
}

// composed is the result of a statement before it has run.
func (e *Engine) composed(ctx context.Context, r *Run, sc Scope, text string, verbatim bool) (*Result, []Warning, error) {
	text = strings.TrimSpace(leadingComments.ReplaceAllString(text, ""))
	if word := strings.ToUpper(firstWord(text)); word != "SELECT" && word != "WITH" {
		return nil, nil, fmt.Errorf("expected a statement that begins with SELECT or WITH, got %q", firstWord(text))
	}
	src, err := e.mount(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	src.Verbatim = verbatim
	values, warnings, err := e.workedOut(ctx, r, queries.Query{Text: text}, sc, nil)
	if err != nil {
		return nil, nil, err
	}
	composed, err := queries.ComposeText(text, src, queries.Scope{From: sc.From, To: sc.To, By: sc.By}, values)
	return &Result{Query: "sql", Title: "SQL", Params: map[string]string{}, SQL: composed}, warnings, err
}

// givenValues are params and, of the SLO's, those that the query reads.
func givenValues(q queries.Query, sc Scope, params map[string]string) (map[string]string, error) {
	values := map[string]string{}
	slo := sc.SLO.Params()
	if sc.SLO.Objective > 0 {
		slo["objective"] = strconv.FormatFloat(sc.SLO.Objective, 'g', -1, 64)
	}
	for _, p := range queries.Parameters(q) {
		if v, ok := slo[p.Name]; ok {
			values[p.Name] = v
		}
	}
	for name := range params {
		if _, ok := values[name]; ok {
			return nil, fmt.Errorf("parameter %q is given by the SLO", name)
		}
		if name == "from_us" || name == "to_us" {
			return nil, fmt.Errorf("parameter %q is given by the time range", name)
		}
	}
	hardware := sc.Hardware.params()
	for _, p := range queries.Parameters(q) {
		if v, ok := hardware[p.Name]; ok {
			values[p.Name] = v
		}
	}
	maps.Copy(values, params)
	return values, nil
}

// shown are the parameters that say how to read the result: the query's own, with their defaults, and those of its views
// that are set.
func shown(q queries.Query, values map[string]string) map[string]string {
	out := map[string]string{}
	for _, p := range queries.Parameters(q) {
		v, given := values[p.Name]
		if !given && slices.Contains(q.Params, p) {
			v = p.Value()
		}
		if v != "" && v != "NULL" && (p.Name == "fits" || !slices.Contains(derived, p.Name)) { // they follow from the samples
			out[p.Name] = v
		}
	}
	return out
}

func headerColumns(q queries.Query) []Column {
	var cols []Column
	for _, k := range q.Keys {
		cols = append(cols, Column{Name: k.Name, Unit: k.Unit, Better: k.Better, Key: true})
	}
	for _, c := range q.Columns {
		cols = append(cols, Column{Name: c.Name, Unit: c.Unit, Better: c.Better})
	}
	return cols
}
