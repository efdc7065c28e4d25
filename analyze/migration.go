package analyze

import (
	"context"
	"fmt"
)

// Migration is a comparison with what else a decision to move rests on: what each side did over the time of the pairs.
type Migration struct {
	*Comparison
	Runs [2]MigrationSide // base, candidate
}

// MigrationSide is one run over the time of the pairs. Sweep says how much load its target carries; nil when that was not measured.
type MigrationSide struct {
	Results map[string]*Result // by query name
	Missing map[string]string  // query name: why the log cannot answer it
	Sweep   *Sweep
}

// MigrationOptions are those of a comparison; Again is another run of the base's target, nil without. Hardware is that of
// base and candidate: with a price, the cost of tokens is given.
type MigrationOptions struct {
	CompareOptions
	Again    *Run
	Hardware [2]Hardware
}

// migrated are the queries of both sides. They are not grouped: what differs by group is in the comparison.
var migrated = []string{"decode_stalls", "gap_counterfactual", "errors", "cost"}

// Migrate compares base and cand, then looks into both over the time of the pairs.
func Migrate(ctx context.Context, e *Engine, base, cand *Run, o MigrationOptions) (*Migration, error) {
	var err error
	m := &Migration{}
	o.Lengths = true
	if o.Again != nil {
		m.Comparison, err = CompareWithNoise(ctx, e, [3]*Run{base, o.Again, cand}, o.CompareOptions)
	} else {
		m.Comparison, err = Compare(ctx, e, base, cand, o.CompareOptions)
	}
	if err != nil {
		return nil, err
	}
	for i, run := range []*Run{base, cand} {
		name := []string{"base", "cand"}[i]
		sc := Scope{SLO: o.Scope.SLO, Hardware: o.Hardware[i]}
		if s := m.Sides[name]; s != nil && s.FirstUS != nil {
			sc.From, sc.To = s.FirstUS, new(*s.LastUS+1)
		}
		if m.Runs[i], err = e.migrationSide(ctx, run, sc); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return m, nil
}

func (e *Engine) migrationSide(ctx context.Context, r *Run, sc Scope) (s MigrationSide, err error) {
	s = MigrationSide{Results: map[string]*Result{}, Missing: map[string]string{}}
	has, err := e.levels(ctx, r, sc)
	if err != nil {
		return s, err
	}
	for _, name := range migrated {
		why := has.lacks(name)
		if _, priced := sc.Hardware["price_gpu_hour"]; name == "cost" && !priced {
			why = "no price was given (--gpu-price and --gpus, or --hardware)"
		}
		if name == "gap_counterfactual" && has.chunks == 0 {
			why = "this log has no chunk times"
		}
		if why != "" {
			s.Missing[name] = why
			continue
		}
		if s.Results[name], err = e.Query(ctx, r, name, sc, nil); err != nil {
			return s, err
		}
	}
	return s, nil
}
