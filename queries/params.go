package queries

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// render checks the value against the type, which is not BOUND, and returns it as SQL with its cast. "" and NULL are NULL.
func (p Param) render(value string) (string, error) {
	typ := p.Type
	var literal string
	var err error
	switch p.Type {
	case "BIGINT":
		_, err = strconv.ParseInt(value, 10, 64)
		literal = value
	case "DOUBLE":
		var f float64
		f, err = strconv.ParseFloat(value, 64)
		if err == nil && (math.IsInf(f, 0) || math.IsNaN(f)) {
			err = fmt.Errorf("not finite")
		}
		literal = strconv.FormatFloat(f, 'e', -1, 64)
	case "BOOLEAN":
		if literal = strings.ToLower(value); literal != "true" && literal != "false" {
			err = fmt.Errorf("not true or false")
		}
	case "TEXT":
		typ, literal = "VARCHAR", quote(value)
		if choices := p.choices(); len(choices) > 1 && !slices.Contains(choices, value) {
			err = fmt.Errorf("no such choice")
		}
	default:
		return "", fmt.Errorf("parameter %s: type must be BIGINT, DOUBLE, TEXT, BOOLEAN or BOUND, got %q", p.Name, p.Type)
	}
	if value == "" || value == "NULL" {
		literal, err = "NULL", nil
	}
	if err != nil {
		return "", fmt.Errorf("parameter %s: expected %s, got %q", p.Name, p.expects(), value)
	}
	return "CAST(" + literal + " AS " + typ + ")", nil
}

// value is the value given, else the default, of choices the first.
func (p Param) value(values map[string]string) string {
	if v, ok := values[p.Name]; ok {
		return v
	}
	return p.choices()[0]
}

func (p Param) choices() []string {
	if p.Type != "TEXT" {
		return []string{p.Default}
	}
	return strings.Split(p.Default, "|")
}

func (p Param) expects() string {
	if choices := p.choices(); len(choices) > 1 {
		return strings.Join(choices, " or ")
	}
	return p.Type
}

// quote makes a SQL string literal.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// literals renders the value of each parameter. A value for a parameter that nothing declares is an error: it would have
// no effect.
func literals(params []Param, values map[string]string) (map[string]string, error) {
	out := map[string]string{}
	for _, p := range params {
		var err error
		if p.Type == "BOUND" {
			out[p.Name], out[p.Name+"_set"], err = p.renderBound(p.value(values))
		} else {
			out[p.Name], err = p.render(p.value(values))
		}
		if err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if _, ok := out[name]; !ok {
			return nil, fmt.Errorf("no parameter %q; there are: %s", name, paramNames(params))
		}
	}
	return out, nil
}

// paramsCTE is the one-row table of all parameters but bounds, which hang on the row; "" without any.
func paramsCTE(params []Param, literals map[string]string) string {
	var fields []string
	for _, p := range params {
		if p.Type != "BOUND" {
			fields = append(fields, literals[p.Name]+" AS "+p.Name)
		}
	}
	if fields == nil {
		return ""
	}
	return "params AS (\n  SELECT " + strings.Join(fields, ",\n         ") + "\n)"
}

func paramNames(params []Param) string {
	if len(params) == 0 {
		return "none"
	}
	var names []string
	for _, p := range params {
		names = append(names, p.Name)
	}
	return strings.Join(names, ", ")
}
