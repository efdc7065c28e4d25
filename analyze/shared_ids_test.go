package analyze

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"reprise/ingest/trace"
	"reprise/queries"
)

// sharing gives some calls the id of another one: clients send an id twice, and both are calls (metrics.md 0.2). Each keeps its root.
func sharing(rows []trace.Request) []trace.Request {
	out := slices.Clone(rows)
	for i := range out {
		if i%6 == 5 {
			out[i].RequestID = out[i-1-i%3].RequestID
		}
	}
	return out
}

// TestSharedIDs: what ids calls have says nothing, so a run in which some share one gives the same figures.
func TestSharedIDs(t *testing.T) {
	e := newEngine(t)
	rows := oddTraffic(rand.New(rand.NewPCG(5, 5)))
	one, two := writeRun(t, rows), writeRun(t, sharing(rows))
	for _, name := range queries.Names() {
		if name == "pair_gaps" { // the lists of calls by id; such calls are no pairs
			continue
		}
		var answers [2][][]any
		for i, run := range []*Run{one, two} {
			res, err := e.Query(context.Background(), run, name, Scope{SLO: anySLO(t), By: []string{"tenant"}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			answers[i] = withoutIDs(res)
		}
		if len(answers[0]) != len(answers[1]) {
			t.Errorf("%s: %d rows, where calls share ids %d", name, len(answers[0]), len(answers[1]))
			continue
		}
		for i, row := range answers[0] {
			if !slices.EqualFunc(row, answers[1][i], alike) {
				t.Errorf("%s: %v, where calls share ids %v", name, row, answers[1][i])
				break
			}
		}
	}
}

func withoutIDs(res *Result) [][]any {
	var out [][]any
	for _, row := range res.Rows {
		var kept []any
		for i, c := range res.Columns {
			if c.Name != "request_id" && c.Name != "attempt_id" {
				kept = append(kept, row[i])
			}
		}
		out = append(out, kept)
	}
	return out
}
