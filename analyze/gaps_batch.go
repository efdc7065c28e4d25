package analyze

import (
	"context"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strings"
)

// batchCell is what a group decoded on a replica at one class of streams.
type batchCell struct {
	streamUS, knownUS, contextUS int64
	tokens                       wide // in parts of 1e-12: whole numbers have the same sum in any order
	context                      wide // microseconds times twice the tokens of context
}

// wide is a sum of whole numbers that needs more than 64 bits.
type wide struct{ high, low uint64 }

// wideOf is the whole number nearest to v, from 0 to under 2^128.
func wideOf(v float64) wide {
	high := math.Floor(math.Ldexp(v, -64))
	return wide{uint64(high), uint64(math.Round(v - math.Ldexp(high, 64)))}
}

func (w *wide) add(a, b uint64) {
	high, low := bits.Mul64(a, b)
	w.put(wide{high, low})
}

func (w *wide) put(x wide) {
	low, carry := bits.Add64(w.low, x.low, 0)
	w.low, w.high = low, w.high+x.high+carry
}

func (w wide) float() float64 { return math.Ldexp(float64(w.high), 64) + float64(w.low) }

// decodedOn names what is added up: a group on a replica.
type decodedOn struct {
	grp string
	on  *timeline
}

// batchTally holds cells by place of the class; each worker has one.
type batchTally map[decodedOn]*[]batchCell

// of is the cells of a group on a replica. A map takes over the text of the key at each assignment, and that of a chunk of rows is gone with the chunk.
func (t batchTally) of(grp string, on *timeline) *[]batchCell {
	cells := t[decodedOn{grp, on}]
	if cells == nil {
		cells = &[]batchCell{}
		t[decodedOn{strings.Clone(grp), on}] = cells
	}
	return cells
}

// piece is a part of a stream over which its tokens are spread evenly.
type piece struct {
	from, to         int64
	tokens, context2 float64 // NaN: unknown; context2 is twice the context
}

// spread adds a piece up, from level i on, where it begins or earlier, and returns the level in which it ends.
func (l *crowd) spread(p piece, i int, cells []batchCell) ([]batchCell, int) {
	per := p.tokens * 1e12 / float64(p.to-p.from)
	for from := p.from; from < p.to; {
		for i+1 < len(l.at) && l.at[i+1] <= from {
			i++
		}
		to := p.to
		if i+1 < len(l.at) {
			to = min(to, l.at[i+1])
		}
		if us := to - from; l.streams[i] > 0 {
			at := place(streamClass(l.streams[i]))
			cells = reaching(cells, at)
			cells[at].put(us, per, p.context2)
		}
		from = to
	}
	return cells, i
}

func (c *batchCell) put(us int64, per, context2 float64) {
	c.streamUS += us
	if per >= 0 {
		c.knownUS += us
		c.tokens.put(wideOf(per * float64(us)))
	}
	if context2 >= 0 {
		c.contextUS += us
		c.context.add(uint64(us), uint64(context2))
	}
}

func (c *batchCell) merge(x batchCell) {
	c.streamUS, c.knownUS, c.contextUS = c.streamUS+x.streamUS, c.knownUS+x.knownUS, c.contextUS+x.contextUS
	c.tokens.put(x.tokens)
	c.context.put(x.context)
}

// batch gives the time by the number of streams in decode: the view batch_time.
func (s *sweep) batch(ctx context.Context, _ []*float64) error {
	groups := map[*timeline]map[string]bool{}
	if err := s.each(ctx, "decoded", "replica, CAST(start_us AS BIGINT), CAST(end_us AS BIGINT), grp", func(t *timeline, c []column, row int) error {
		t.starts, t.ends = append(t.starts, peek[int64](c[1], row)), append(t.ends, peek[int64](c[2], row))
		if groups[t] == nil {
			groups[t] = map[string]bool{}
		}
		if grp := c[3].text(row); !groups[t][grp] {
			groups[t][strings.Clone(grp)] = true
		}
		return nil
	}); err != nil {
		return err
	}
	for _, t := range s.replicas {
		t.settle()
	}
	parts := make([]batchTally, s.workers)
	for w := range parts {
		parts[w] = batchTally{}
	}
	if err := s.engine.chunks(ctx, "SELECT "+decodedColumns+" FROM ("+s.reads["decoded"]+")", s.workers, func(w int, c *chunk) error {
		s.decoded(c, parts[w])
		return nil
	}); err != nil {
		return err
	}
	for _, t := range s.inOrder() {
		for _, grp := range slices.Sorted(maps.Keys(groups[t])) {
			if err := s.batchRows(decodedOn{grp, t}, parts); err != nil {
				return err
			}
		}
	}
	return nil
}

const decodedColumns = "replica, grp, CAST(start_us AS BIGINT), CAST(end_us AS BIGINT), CAST(paced_tokens AS DOUBLE), CAST(2 * context AS DOUBLE), chunked, CAST(arrival_us AS BIGINT), CAST(chunks AS BIGINT), CAST(CASE WHEN chunked THEN steps END AS BIGINT[]), CAST(CASE WHEN chunked AND told THEN weights END AS BIGINT[])"

// decoded reads a chunk of these columns of the view of that name.
func (s *sweep) decoded(c *chunk, into batchTally) {
	replica, grp, start, end, tokens, context2 := c.column(0), c.column(1), c.column(2), c.column(3), c.column(4), c.column(5)
	chunked, arrival, chunks, steps, weights := c.column(6), c.column(7), c.column(8), c.list(9), c.list(10)
	for row := range c.rows {
		on := s.replicas[replica.text(row)]
		cells := into.of(grp.text(row), on)
		p := piece{from: peek[int64](start, row), to: peek[int64](end, row), tokens: orNaN(tokens, row) - 1, context2: orNaN(context2, row)}
		if !peek[bool](chunked, row) {
			*cells, _ = on.decoders.spread(p, on.decoders.before(p.from), *cells)
			continue
		}
		list, _ := elements[int64](steps, row)
		w := told{each: p.tokens / float64(peek[int64](chunks, row)-1)}
		if weights.known(row) {
			_, w.first = elements[int64](weights, row)
			w.weights = weights.elems
		}
		*cells = on.decoders.chunks(p, peek[int64](arrival, row), list, w, *cells)
	}
}

// told are the tokens of each chunk.
type told struct {
	each    float64 // where nothing says how many; NaN: not known
	weights *column // nil: nothing does
	first   int     // place of the first chunk's in weights
}

func (t told) at(k int) float64 {
	if t.weights == nil || !t.weights.known(t.first+k) {
		return t.each
	}
	return float64(peek[int64](*t.weights, t.first+k))
}

// chunks adds up a stream of which the chunk times are known: steps are the offset of the first chunk from the arrival, then the gaps.
func (l *crowd) chunks(p piece, arrival int64, steps []int64, tokens told, cells []batchCell) []batchCell {
	p.to = arrival + steps[0]
	i := l.before(p.to)
	for k, gap := range steps[1:] {
		p.from, p.to, p.tokens = p.to, p.to+gap, tokens.at(k+1)
		if gap > 0 {
			cells, i = l.spread(p, i, cells)
		}
	}
	return cells
}

// orNaN is a DOUBLE, NaN where it is unknown.
func orNaN(c column, row int) float64 {
	if !c.known(row) {
		return math.NaN()
	}
	return peek[float64](c, row)
}

// batchRows adds the rows of a group on a replica.
func (s *sweep) batchRows(key decodedOn, parts []batchTally) error {
	var cells []batchCell
	l := &key.on.decoders
	for _, p := range parts {
		for i, c := range *p.of(key.grp, key.on) {
			cells = reaching(cells, i)
			cells[i].merge(c)
		}
	}
	var us, level []int64 // by place
	for i := range len(l.at) - 1 {
		if n := l.streams[i]; n > 0 {
			at := place(streamClass(n))
			us, level = reaching(us, at), reaching(level, at)
			us[at], level[at] = us[at]+l.at[i+1]-l.at[i], level[at]+n*(l.at[i+1]-l.at[i])
		}
	}
	for i := range us {
		if us[i] == 0 {
			continue
		}
		var c batchCell
		if i < len(cells) {
			c = cells[i]
		}
		var tokens, context any
		if c.knownUS > 0 {
			tokens = c.tokens.float() / 1e12
		}
		if c.contextUS > 0 {
			context = c.context.float() / 2
		}
		if err := s.row(0, key.grp, key.on.name, classAt(i), us[i], level[i], c.streamUS, c.knownUS, tokens, c.contextUS, context); err != nil {
			return err
		}
	}
	return nil
}
