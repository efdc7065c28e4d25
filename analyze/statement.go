package analyze

import (
	"fmt"
	"slices"

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
