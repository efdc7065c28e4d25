package analyze

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"reprise/queries"
)

// Prefill is what a run says about the cost of prefill work, and what it cannot say.
type Prefill struct {
	Fits     []PrefillFit // one a model that has one, in order of model
	Warnings []Warning    // why there is none, or why stalls cannot be told, or only roughly
	text     string       // the fits as the queries take them; "" without
}

// Prefill fits the run, once. It looks at the whole run whatever the scope of a query: an engine costs the same in an
// incident, and isolated requests are found in the quiet hours.
func (e *Engine) Prefill(ctx context.Context, r *Run) (Prefill, error) {
	if p, ok := e.prefills[r]; ok {
		return p, nil
	}
	p, err := e.fitRun(ctx, r)
	if err != nil {
		return p, fmt.Errorf("cost of prefills: %w", err)
	}
	e.prefills[r] = p
	return p, nil
}

// withFits gives a query that reads the view prefill_fits the fits of the run, unless params have some, and the
// warnings that go with its answer.
func (e *Engine) withFits(ctx context.Context, r *Run, q queries.Query, params map[string]string) (map[string]string, []Warning, error) {
	if !hasParam(q, "fits") {
		return params, nil, nil
	}
	if _, given := params["fits"]; given {
		return params, nil, nil
	}
	p, err := e.Prefill(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	all := map[string]string{"fits": p.text}
	maps.Copy(all, params)
	if hasParam(q, "chunk_times") {
		return all, p.Warnings, nil
	}
	// the query asks for the cost alone, not for stalls
	return all, slices.DeleteFunc(slices.Clone(p.Warnings), func(w Warning) bool {
		return w.Code != "no_replica" && w.Code != "cached_unknown" && w.Code != "few_isolated"
	}), nil
}

func hasParam(q queries.Query, name string) bool {
	return slices.ContainsFunc(queries.Parameters(q), func(p queries.Param) bool { return p.Name == name })
}

func (e *Engine) fitRun(ctx context.Context, r *Run) (Prefill, error) {
	var p Prefill
	levels, err := e.stallLevels(ctx, r)
	if err != nil {
		return p, err
	}
	prompts, err := e.isolated(ctx, r, "nobody")
	if err != nil {
		return p, err
	}
	var all isolatedPrompts // read when some model needs them
	for _, l := range levels {
		f := PrefillFit{Model: l.model, Isolated: prompts.total[l.model]}
		var ok bool
		if f.AUS, f.AloneUS, ok = alone(prompts.byModel[l.model]); ok {
			f.TokenUS = f.AloneUS
			p.Fits = append(p.Fits, f)
			continue
		}
		if l.cached == 0 {
			continue
		}
		if all.byModel == nil {
			if all, err = e.isolated(ctx, r, "anybody"); err != nil {
				return p, err
			}
		}
		if f.AUS, f.AloneUS, f.Floor = floorOf(all.byModel[l.model]); f.Floor {
			f.TokenUS = f.AloneUS
			p.Fits = append(p.Fits, f)
		}
	}
	// windows with the cost on an idle replica, then once more with the cost under load
	for range 2 {
		before := slices.Clone(p.Fits)
		if err := e.fitPaces(ctx, r, &p); err != nil {
			return p, err
		}
		if slices.EqualFunc(before, p.Fits, func(a, b PrefillFit) bool { return a.TokenUS == b.TokenUS }) {
			break // the same windows
		}
	}
	p.Warnings = stallWarnings(levels, prompts, p.Fits)
	return p, p.encode()
}

func (p *Prefill) encode() error {
	if len(p.Fits) == 0 {
		return nil
	}
	b, err := json.Marshal(p.Fits)
	p.text = string(b)
	return err
}

// isolatedPrompts are the rows of prefill_fit by model; total counts those that it left out too.
type isolatedPrompts struct {
	byModel map[string][]prompt
	total   map[string]int64
}

// isolated reads the requests whose way to the first token met nobody, or a sample of all: met as prefill_fit has it.
func (e *Engine) isolated(ctx context.Context, r *Run, met string) (isolatedPrompts, error) {
	out := isolatedPrompts{map[string][]prompt{}, map[string]int64{}}
	text, err := e.Text(ctx, r, "prefill_fit", Scope{}, map[string]string{"met": met})
	if err != nil {
		return out, err
	}
	return out, e.read(ctx, text, func(scan scanner) error {
		var skip any
		var model string
		var tokens, ttft, total int64
		if err := scan(&skip, &skip, &model, &skip, &tokens, &ttft, &total); err != nil {
			return err
		}
		out.byModel[model] = append(out.byModel[model], prompt{float64(tokens), float64(ttft)})
		out.total[model] = total
		return nil
	})
}

func (e *Engine) fitPaces(ctx context.Context, r *Run, p *Prefill) error {
	if err := p.encode(); err != nil || p.text == "" {
		return err
	}
	streams := map[string][]stream{}
	err := e.readQuery(ctx, reading{run: r, fits: p.text}, "pace_fit", func(scan scanner) error {
		var skip any
		var model string
		var s stream
		err := scan(&skip, &skip, &model, &s.stepUS, &s.steps, &s.stepTokens, &s.others, &s.weight)
		streams[model] = append(streams[model], s)
		return err
	})
	for i := range p.Fits {
		p.Fits[i].pace(streams[p.Fits[i].Model])
	}
	return err
}

// reading says what of a run is read, and with which fits.
type reading struct {
	run   *Run
	scope Scope
	fits  string
}

type scanner func(into ...any) error

// readQuery hands on the rows of a query of the catalogue.
func (e *Engine) readQuery(ctx context.Context, rd reading, name string, row func(scanner) error) error {
	params := map[string]string{}
	if rd.fits != "" {
		params["fits"] = rd.fits
	}
	text, err := e.Text(ctx, rd.run, name, rd.scope, params)
	if err != nil {
		return err
	}
	return e.read(ctx, text, row)
}

// readView hands on the rows of a text over base views of which one reads the fits.
func (e *Engine) readView(ctx context.Context, rd reading, text string, row func(scanner) error) error {
	src, err := e.mount(ctx, rd.run)
	if err != nil {
		return err
	}
	params := map[string]string{}
	if rd.fits != "" {
		params["fits"] = rd.fits
	}
	composed, err := queries.ComposeText(text, src, queries.Scope{From: rd.scope.From, To: rd.scope.To, By: rd.scope.By}, params)
	if err != nil {
		return err
	}
	return e.read(ctx, composed, row)
}

func (e *Engine) read(ctx context.Context, text string, row func(scanner) error) error {
	rows, err := e.query(ctx, text)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}
