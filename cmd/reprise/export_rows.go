package main

import (
	"fmt"
	"io"
	"iter"

	"reprise/ingest/public"
	"reprise/ingest/trace"
	"reprise/replay"
)

// exportRows writes every row as JSON lines.
func (a *app) exportRows(rows iter.Seq2[trace.Request, error], o replay.PlanOptions, x *exportFlags) error {
	begin, err := firstArrival(rows, o, x)
	if err != nil {
		return err
	}
	var by int64 // added to every time
	if to, err := parseTime(x.shift); err != nil {
		return usage(err)
	} else if to != nil {
		by = *to - begin
	} else if x.relative {
		by = -begin
	}
	kept, left, ids, told := int64(0), map[string]int64{}, [][]int64(nil), map[string]bool{}
	err = a.writeOut(x.out, func(w io.Writer) error {
		for r, err := range rows {
			switch {
			case err != nil:
				return err
			case r.Arrival == nil && (o.From != nil || o.To != nil):
				left["no arrival"]++
				continue
			case r.Arrival != nil && (o.From != nil && *r.Arrival < *o.From || o.To != nil && *r.Arrival >= *o.To):
				left["outside time range"]++
				continue
			case r.Arrival != nil:
				*r.Arrival += by
			}
			if x.relative {
				r.ClockDomain = trace.Relative
			}
			if kept, ids = kept+1, append(ids, nil); r.PrefixHashIDs != nil && !told[r.RootRequestID] { // another view or attempt of a call shares nothing with others
				told[r.RootRequestID], ids[kept-1] = true, r.PrefixHashIDs
			}
			if _, err := w.Write(append(public.EncodeReprise(&r), '\n')); err != nil {
				return err
			}
		}
		if kept == 0 {
			return fmt.Errorf("no request left%s", withCounts(": ", left))
		}
		return nil
	})
	if err != nil {
		return err
	}
	a.sayBeside(x.out)("%s rows%s", count(kept), withCounts("; left out: ", left))
	a.warnRare(ids, x)
	return nil
}

// firstArrival is the earliest time that leaves, when times are moved at all.
func firstArrival(rows iter.Seq2[trace.Request, error], o replay.PlanOptions, x *exportFlags) (int64, error) {
	var first *int64
	if x.shift == "" && !x.relative {
		return 0, nil
	}
	for r, err := range rows {
		if err != nil {
			return 0, err
		}
		if r.Arrival != nil && (first == nil || *r.Arrival < *first) && (o.From == nil || *r.Arrival >= *o.From) {
			first = r.Arrival
		}
	}
	if first == nil {
		return 0, nil
	}
	return *first, nil
}
