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

// works reads the tokens of the windows of a view.
func (s *sweep) works(ctx context.Context, view string) error {
	if err := s.each(ctx, view, "replica, CAST(start_us AS BIGINT), CAST(end_us AS BIGINT), CAST(tokens AS DOUBLE)", func(t *timeline, c []column, row int) error {
		t.tokens.put(peek[int64](c[1], row), peek[int64](c[2], row), peek[float64](c[3], row))
		return nil
	}); err != nil {
		return err
	}
	for _, t := range s.replicas {
		t.tokens.settle()
	}
	return nil
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
	c    *crowd
	done []int64 // before each edge
}

func (c *crowd) time() streamTime {
	s := streamTime{c, make([]int64, len(c.at))}
	for i := 1; i < len(c.at); i++ {
		s.done[i] = s.done[i-1] + c.streams[i-1]*(c.at[i]-c.at[i-1])
	}
	return s
}

// upto is that time; the moment is not before the first edge.
func (s streamTime) upto(at int64) int64 {
	i := s.c.before(at)
	return s.done[i] + s.c.streams[i]*(at-s.c.at[i])
}

// load gives what went on while each stream decoded: the view decode_load.
func (s *sweep) load(ctx context.Context, _ []*float64) error {
	if err := s.works(ctx, "prefill_windows"); err != nil {
		return err
	}
	times := map[*timeline]streamTime{}
	for _, t := range s.replicas {
		times[t] = t.decoders.time()
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
