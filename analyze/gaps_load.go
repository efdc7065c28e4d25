package analyze

import (
	"cmp"
	"context"
	"slices"
	"sort"
)

// work is what was prefilled on a replica: tokens spread evenly over windows.
type work struct {
	edges []workEdge
}

type workEdge struct {
	at   int64
	rate float64 // tokens a microsecond: what begins here; once settled, what goes on after it
	done float64 // tokens before it
}

func (w *work) put(from, to int64, tokens float64) {
	rate := tokens / float64(to-from)
	w.edges = append(w.edges, workEdge{at: from, rate: rate}, workEdge{at: to, rate: -rate})
}

// settle is called when all windows are in. Edges in one order give one sum.
func (w *work) settle() {
	slices.SortFunc(w.edges, func(a, b workEdge) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.rate, b.rate))
	})
	for i := 1; i < len(w.edges); i++ {
		before := w.edges[i-1]
		w.edges[i].done = before.done + before.rate*float64(w.edges[i].at-before.at)
		w.edges[i].rate += before.rate
	}
}

// upto are the tokens prefilled before a moment.
func (w *work) upto(at int64) float64 {
	i := sort.Search(len(w.edges), func(i int) bool { return w.edges[i].at > at }) - 1
	if i < 0 {
		return 0
	}
	return w.edges[i].done + w.edges[i].rate*float64(at-w.edges[i].at)
}

// streamTime is the time of all streams in decode before a moment, added up.
type streamTime struct {
	t            *timeline
	starts, ends []int64 // sums of the first n, counted from the origin
}

func (t *timeline) streamTime() streamTime {
	sums := func(times []int64) []int64 {
		out := make([]int64, len(times)+1)
		for i, at := range times {
			out[i+1] = out[i] + at - t.origin
		}
		return out
	}
	return streamTime{t, sums(t.starts), sums(t.ends)}
}

func (s streamTime) upto(at int64) int64 {
	d := s.t.decodingAt(at)
	return int64(d.begun-d.ended)*(at-s.t.origin) - s.starts[d.begun] + s.ends[d.ended]
}

// load gives what went on while each stream decoded: the view decode_load.
func (s *sweep) load(ctx context.Context, _ []*float64) error {
	times := map[*timeline]streamTime{}
	for _, t := range s.replicas {
		times[t] = t.streamTime()
	}
	const columns = "replica, request_id, CAST(attempt AS INTEGER), grp, tenant, model, CAST(start_us AS BIGINT), CAST(end_us AS BIGINT), CAST(chunks AS BIGINT), CAST(estimated AS BOOLEAN), CAST(paced_tokens AS BIGINT), CAST(latency AS BOOLEAN), CAST(arrival_us AS BIGINT)"
	return s.apart(ctx, "decode_streams", columns, func(w int, t *timeline, c []column, row int) error {
		if latency := c[11]; !latency.known(row) || !peek[bool](latency, row) {
			return nil
		}
		from, to := peek[int64](c[6], row), peek[int64](c[7], row)
		var chunks, steps any
		if v := c[8]; v.known(row) {
			chunks = peek[int64](v, row)
		}
		if v := c[10]; v.known(row) {
			steps = peek[int64](v, row) - 1
		}
		others := t.tokens.upto(to) - t.tokens.upto(from)
		if others <= 1e-3 { // what is left of rounding is nothing
			others = 0
		}
		beside := float64(times[t].upto(to)-times[t].upto(from))/float64(to-from) - 1
		return s.row(w, c[1].text(row), peek[int32](c[2], row), peek[int64](c[12], row), c[3].text(row), c[4].text(row), c[5].text(row), t.name,
			from, to, chunks, peek[bool](c[9], row), to-from, steps, others, beside)
	})
}

// stood gives what went on in each stalled gap: the view stood_gaps.
func (s *sweep) stood(ctx context.Context, _ []*float64) error {
	stalls := map[*timeline]*timeline{}
	if err := s.each(ctx, "long_gaps", "replica, start_us, end_us, gap_us - baseline_us", func(t *timeline, c []column, row int) error {
		if stalls[t] == nil {
			stalls[t] = &timeline{}
		}
		if peek[float64](c[3], row) >= 100000 {
			stalls[t].starts = append(stalls[t].starts, peek[int64](c[1], row))
			stalls[t].ends = append(stalls[t].ends, peek[int64](c[2], row))
		}
		return nil
	}); err != nil {
		return err
	}
	for _, t := range stalls {
		slices.Sort(t.starts)
		slices.Sort(t.ends)
	}
	const columns = "replica, start_us, end_us, gap_us - baseline_us, request_id, attempt, k, excess_us, arrival_us"
	return s.apart(ctx, "long_gaps", columns, func(w int, t *timeline, c []column, row int) error {
		from, to := peek[int64](c[1], row), peek[int64](c[2], row)
		if peek[float64](c[3], row) < 100000 {
			return nil
		}
		var covered, overlap int64
		var tokens float64
		if peek[int64](c[7], row) > 0 {
			covered, overlap, _ = t.held.within(t.held.before(from), from, to)
			tokens = t.tokens.upto(to) - t.tokens.upto(from)
		}
		middle := from + (to-from)/2
		held, decoders := stalls[t].decodingAt(middle), t.decodingAt(middle)
		return s.row(w, c[4].text(row), peek[int32](c[5], row), peek[int64](c[8], row), peek[int64](c[6], row), covered, overlap, tokens,
			int64(held.begun-held.ended), int64(decoders.begun-decoders.ended))
	})
}
