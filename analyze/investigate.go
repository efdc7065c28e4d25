package analyze

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
)

// Investigation is one incident with all that a report of it needs.
type Investigation struct {
	Incident
	Others  []Incident // the other incidents of the scope
	Around  Scope      // the window with as much before and behind it, for what is shown over time
	Budget  *float64   // bad calls of the window, of all that the objective allows in the whole scope; nil when it allows none
	Results map[string]*Result
	Missing map[string]string
}

// ErrNoIncident: no stretch of the scope missed its objective by more than chance.
var ErrNoIncident = errors.New("no incident: at no time did more requests miss the objective than it allows and the quiet part of the run explains")

// investigated are the queries of the window itself, around those over time.
var investigated = map[string]bool{"goodput_over_time": true, "latency_over_time": true, "concurrency_over_time": true,
	"latency": false, "errors": false, "decode_stalls": false, "stall_blame": false, "stall_culprits": false}

// Investigate looks into the window from, to, or when it is empty into the incident of the scope with most bad calls. The
// scope must hold an SLO.
func (e *Engine) Investigate(ctx context.Context, r *Run, sc Scope, from, to int64) (*Investigation, error) {
	v := &Investigation{Results: map[string]*Result{}, Missing: map[string]string{}}
	var err error
	if from < to {
		v.Incident, err = e.window(ctx, r, sc, from, to)
	} else {
		err = e.worst(ctx, r, sc, v)
	}
	if err != nil {
		return nil, err
	}
	if v.Budget, err = e.budgetShare(ctx, r, sc, v.Bad); err != nil {
		return nil, err
	}
	long := v.To - v.From
	v.Around = sc
	v.Around.From, v.Around.To = new(v.From-long), new(v.To+long)
	inside := sc
	inside.From, inside.To = &v.From, &v.To
	has, err := e.levels(ctx, r, inside)
	if err != nil {
		return nil, err
	}
	bin := map[string]string{"bin_us": strconv.FormatInt(niceBin(3*long, incidentBins, minIncidentBin), 10)}
	for _, name := range slices.Sorted(maps.Keys(investigated)) {
		scope, params := inside, map[string]string(nil)
		if investigated[name] {
			scope, params = v.Around, bin
		}
		if why := has.lacks(name); why != "" {
			v.Missing[name] = why
		} else if v.Results[name], err = e.Query(ctx, r, name, scope, params); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// worst takes the incident with most bad calls.
func (e *Engine) worst(ctx context.Context, r *Run, sc Scope, v *Investigation) error {
	found, err := e.Incidents(ctx, r, sc)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return ErrNoIncident
	}
	worst := 0
	for i := range found {
		if found[i].Bad > found[worst].Bad {
			worst = i
		}
	}
	v.Incident = found[worst]
	v.Others = append(found[:worst:worst], found[worst+1:]...)
	return nil
}

// window is a stretch that somebody named, explained like an incident that was found.
func (e *Engine) window(ctx context.Context, r *Run, sc Scope, from, to int64) (Incident, error) {
	in := Incident{From: from, To: to, Expected: 1 - sc.SLO.Objective}
	res, err := e.Query(ctx, r, "incident_bins", sc, map[string]string{"bin_us": strconv.FormatInt(minIncidentBin, 10)})
	if err != nil {
		return in, err
	}
	var outside []incidentBinRow
	for _, b := range incidentRows(res) {
		if b.start+minIncidentBin <= from || b.start >= to {
			outside = append(outside, b)
		}
	}
	in.Expected = max(in.Expected, quietShare(outside))
	inside := sc
	inside.From, inside.To = &from, &to
	if res, err = e.Query(ctx, r, "incident_bins", inside, map[string]string{"bin_us": strconv.FormatInt(minIncidentBin, 10)}); err != nil {
		return in, err
	}
	for _, b := range incidentRows(res) {
		in.Eligible, in.Bad, in.Failed = in.Eligible+b.eligible, in.Bad+b.bad, in.Failed+b.failed
	}
	if in.Eligible == 0 {
		return in, errors.New("no request that can be judged arrived in this window")
	}
	if err := e.explain(ctx, r, sc, &in); err != nil {
		return in, err
	}
	return in, e.onset(ctx, r, sc, minIncidentBin, &in)
}

// budgetShare is bad over the bad calls that the objective allows in the scope.
func (e *Engine) budgetShare(ctx context.Context, r *Run, sc Scope, bad int64) (*float64, error) {
	res, err := e.look(ctx, r, sc, "SELECT count(*) FROM calls WHERE verdict IN ('good', 'bad')")
	if err != nil {
		return nil, err
	}
	judged, _ := res.Rows[0][0].(int64)
	allowed := float64(judged) * (1 - sc.SLO.Objective)
	if allowed <= 0 {
		return nil, nil
	}
	share := float64(bad) / allowed
	return &share, nil
}
