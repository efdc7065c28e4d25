package analyze

import (
	"context"
	"crypto/sha256"
	"fmt"
	"path/filepath"
)

// Identity says which run a report is about, so that the same run can be told again under another name.
type Identity struct {
	Role            string // what the run is in a report of several: base, candidate; "" alone
	Path            string
	ID              string // of the names of its parts, which are those of their inputs: the same inputs, the same id
	Parts           int
	Rows            int64
	Sources         []Source
	FirstUS, LastUS *int64 // arrivals, since 1970; nil when none has a time
}

// Source is a format and who measured.
type Source struct {
	Format, Vantage string
	Rows            int64
}

// Identify describes the whole run, whatever part of it a report looks at.
func (e *Engine) Identify(ctx context.Context, r *Run) (Identity, error) {
	h := sha256.New()
	for _, p := range r.Parts {
		fmt.Fprintln(h, filepath.Base(p))
	}
	out := Identity{Path: r.Path, ID: fmt.Sprintf("%x", h.Sum(nil)[:6]), Parts: len(r.Parts)}
	res, err := e.look(ctx, r, Scope{}, `SELECT coalesce(source_format, 'unknown') AS format, coalesce(vantage, 'unknown') AS seen, n, first_us, last_us
FROM (SELECT source_format, vantage, count(*) AS n, min(arrival_us) AS first_us, max(arrival_us) AS last_us FROM requests GROUP BY 1, 2) ORDER BY 1, 2`)
	if err != nil {
		return out, err
	}
	for _, row := range res.Rows {
		n := row[2].(int64)
		out.Rows, out.Sources = out.Rows+n, append(out.Sources, Source{row[0].(string), row[1].(string), n})
		first, last := integer(row[3]), integer(row[4])
		if first != nil && (out.FirstUS == nil || *first < *out.FirstUS) {
			out.FirstUS = first
		}
		if last != nil && (out.LastUS == nil || *last > *out.LastUS) {
			out.LastUS = last
		}
	}
	return out, nil
}
