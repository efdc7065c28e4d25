package analyze

import "math"

// listed is a row of paced_streams on the timeline of its replica. What it holds is DuckDB's.
type listed struct {
	request, grp, tenant string
	attempt              int32
	on                   *timeline
	arrival, start       int64 // start: of its first gap
	steps                []int64
	first                int // place of steps in the elements
	weights              *column
	usual                float64
}

// load is how much more than usual the chunk after gap i carries.
func (s *listed) load(i int) float64 {
	if s.weights == nil {
		return 1
	}
	w := int64(1)
	if k := s.first + i; s.weights.known(k) {
		w = peek[int64](*s.weights, k)
	}
	if s.usual == 0 {
		return 1
	}
	return max(1, float64(w)/s.usual)
}

// excess is what exceeds the usual length, for a chunk that carries more than is usual in proportion: the view paced_gaps.
func (u *usualAt) excess(gap int64, load float64) int64 {
	if load != 1 {
		return max(0, gap-int64(math.Round(u.length*load)))
	}
	return max(0, gap-u.whole)
}

// what is read is DuckDB's memory, so each type is asked for
const listedColumns = "request_id, CAST(attempt AS INTEGER), grp, tenant, replica, CAST(arrival_us AS BIGINT), CAST(steps AS BIGINT[]), CAST(weights AS BIGINT[]), CAST(usual_weight AS DOUBLE)"

// listed reads a chunk of these columns of paced_streams.
func (s *sweep) listed(c *chunk, visit func(*listed) error) error {
	request, attempt, grp, tenant, replica := c.column(0), c.column(1), c.column(2), c.column(3), c.column(4)
	arrival, steps, weights, usual := c.column(5), c.list(6), c.list(7), c.column(8)
	for row := range c.rows {
		list, _ := steps.longs(row)
		l := &listed{request: request.text(row), attempt: peek[int32](attempt, row), grp: grp.text(row), tenant: tenant.text(row),
			on: s.replicas[replica.text(row)], arrival: peek[int64](arrival, row), start: peek[int64](arrival, row) + list[0], steps: list, usual: 1}
		if usual.known(row) {
			l.usual = peek[float64](usual, row)
		}
		if weights.known(row) {
			_, l.first = weights.longs(row)
			l.weights = weights.elems
		}
		if err := visit(l); err != nil {
			return err
		}
	}
	return nil
}
