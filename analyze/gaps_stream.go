package analyze

import (
	"context"
	"errors"
	"math"
)

// listed is a row of paced_streams on the timeline of its replica. What it holds is gone with the next.
type listed struct {
	request, grp, tenant, replica string
	attempt                       int32
	on                            *timeline
	arrival, start                int64 // start: of its first gap
	steps                         []int64
	weights                       []int64 // none: all are usual
	usual                         float64
}

// load is how much more than usual the chunk after gap i carries.
func (s *listed) load(i int) float64 {
	if len(s.weights) == 0 || s.usual == 0 {
		return 1
	}
	return max(1, float64(s.weights[i])/s.usual)
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
func (c *chunk) listed(visit func(*listed) error) error {
	request, attempt, grp, tenant, replica := c.column(0), c.column(1), c.column(2), c.column(3), c.column(4)
	arrival, steps, weights, usual := c.column(5), c.list(6), c.list(7), c.column(8)
	var l listed
	for row := range c.rows {
		list, _ := elements[int64](steps, row)
		l = listed{request: request.text(row), attempt: peek[int32](attempt, row), grp: grp.text(row), tenant: tenant.text(row), replica: replica.text(row),
			arrival: peek[int64](arrival, row), steps: list, usual: 1, weights: l.weights[:0]}
		if usual.known(row) {
			l.usual = peek[float64](usual, row)
		}
		if weights.known(row) {
			carried, first := elements[int64](weights, row)
			for i, n := range carried {
				if !weights.elems.known(first + i) {
					n = 1
				}
				l.weights = append(l.weights, n)
			}
		}
		if err := visit(&l); err != nil {
			return err
		}
	}
	return nil
}

// streams walks all streams of replicas on which something decodes. visit is called on as many goroutines as there are workers.
func (s *sweep) streams(ctx context.Context, visit func(worker int, l *listed) error) error {
	placed := func(worker int, l *listed) error {
		if l.on = s.replicas[l.replica]; l.on == nil || len(l.on.decoders.at) == 0 {
			return nil
		}
		l.start = l.arrival + l.steps[0]
		return visit(worker, l)
	}
	text := s.reads["paced_streams"]
	if p := s.engine.streams; p != nil && p.text == text {
		return p.walk(ctx, s.workers, placed)
	}
	p, err := s.engine.newSpool(text, s.workers)
	if err != nil {
		return err
	}
	if err = s.engine.chunks(ctx, "SELECT "+listedColumns+" FROM ("+text+")", s.workers, func(worker int, c *chunk) error {
		return c.listed(func(l *listed) error {
			if err := p.put(worker, l); err != nil {
				return err
			}
			return placed(worker, l)
		})
	}); err == nil {
		err = p.finish()
	}
	if err != nil {
		return errors.Join(err, p.close())
	}
	s.engine.streams = p
	return nil
}
