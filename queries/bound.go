package queries

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Bound is one case of a parameter of type BOUND: a limit in microseconds that requests of a tenant and a model have to
// keep. The first case that fits a request holds. The value of such a parameter is a whole number, or a list of cases as JSON.
type Bound struct {
	Tenant     string  `json:"tenant,omitempty"` // "" is any
	Model      string  `json:"model,omitempty"`  // "" is any
	US         *int64  `json:"us"`               // nil: no limit
	PerInputUS float64 `json:"per_input_us"`     // what each input token adds
}

// renderBound gives the limit of a row and whether it has one, as SQL over the columns of requests. The limit is NULL where
// there is none, and where it depends on input tokens that are unknown. Whole microseconds: limits that grow with the input
// are rounded down, which no time in whole microseconds can tell.
func (p Param) renderBound(value string) (limit, set string, err error) {
	var cases []Bound
	if value != "" && value != "NULL" {
		if us, err := strconv.ParseInt(value, 10, 64); err == nil {
			cases = []Bound{{US: &us}}
		} else if err := json.Unmarshal([]byte(value), &cases); err != nil {
			return "", "", fmt.Errorf("parameter %s: expected whole microseconds or a list of cases: %w", p.Name, err)
		}
	}
	limit, set = "CAST(NULL AS BIGINT)", "FALSE"
	for i := len(cases) - 1; i >= 0; i-- {
		c := cases[i]
		l, s := c.limit()
		if when := c.condition(); when != "" {
			l, s = "CASE WHEN "+when+" THEN "+l+" ELSE "+limit+" END", "CASE WHEN "+when+" THEN "+s+" ELSE "+set+" END"
		}
		limit, set = l, s
	}
	return limit, set, nil
}

func (b Bound) limit() (limit, set string) {
	switch {
	case b.US == nil:
		return "CAST(NULL AS BIGINT)", "FALSE"
	case b.PerInputUS == 0:
		return fmt.Sprintf("CAST(%d AS BIGINT)", *b.US), "TRUE"
	}
	return fmt.Sprintf("CAST(floor(%d + %s * input_tokens) AS BIGINT)", *b.US, strconv.FormatFloat(b.PerInputUS, 'e', -1, 64)), "TRUE"
}

func (b Bound) condition() string {
	var terms []string
	if b.Tenant != "" {
		terms = append(terms, "tenant = "+quote(b.Tenant))
	}
	if b.Model != "" {
		terms = append(terms, "model = "+quote(b.Model))
	}
	return strings.Join(terms, " AND ")
}
