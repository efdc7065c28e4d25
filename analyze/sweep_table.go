package analyze

import "strings"

// Table is the sweep as rows, one a load.
func (s *Sweep) Table() *Result {
	r := &Result{Query: "sweep", Title: "Load sweep of " + s.Base, Params: map[string]string{},
		About: "One row a load, as a multiple of the recorded one; each was replayed whole, figures are over the requests due between warm-up and drain. attainment: good of judged under " + s.Objective +
			", with a 95 % interval; fitted: the same, made not to rise with load. A load whose replay is not to be believed has no figures.",
		Columns: []Column{{"speed", "x", "none", true}, {"state", "text", "none", false}, {"fidelity", "text", "none", false}, {"offered_per_s", "requests/s", "none", false},
			{"running", "requests", "none", false}, {"attainment", "share", "higher", false}, {"low", "share", "higher", false}, {"high", "share", "higher", false}, {"fitted", "share", "higher", false},
			{"ttft_p50", "ms", "lower", false}, {"ttft_p95", "ms", "lower", false}, {"ttft_p99", "ms", "lower", false}, {"gap_p99", "ms", "lower", false},
			{"good_per_s", "requests/s", "higher", false}, {"good_tokens_per_s", "tokens/s", "higher", false}, {"why", "text", "none", false}},
		Rows: [][]any{}, Warnings: s.Warnings}
	for _, x := range s.Rungs {
		state, why := x.State, x.Why
		if x.Saturated {
			state, why = "saturated", append([]string{x.SaturatedBy}, why...)
		}
		row := []any{x.Speed, state, orNil(x.Verdict)}
		for _, p := range []*float64{x.OfferedPS, x.Running, x.Attainment, x.Low, x.High, x.Smoothed, x.TTFTP50, x.TTFTP95, x.TTFTP99, x.GapP99, x.GoodPS, x.GoodTokens} {
			if p == nil {
				row = append(row, nil)
				continue
			}
			row = append(row, *p)
		}
		r.Rows = append(r.Rows, append(row, orNil(strings.Join(why, "; "))))
	}
	return r
}

func orNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}
