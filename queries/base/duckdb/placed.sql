-- about Each gap with the levels that hold when it begins (a) and ends (b).
SELECT g.*, coalesce(a.streams, 1) AS streams, coalesce(b.streams, 1) AS streams_after,
         coalesce(b.fresh_us - greatest(0, b.until_us - g.end_us), 0) - coalesce(a.fresh_us - greatest(0, a.until_us - g.start_us), 0) AS covered_us,
         coalesce(b.waited_us - greatest(0, b.waiting_us - g.end_us), 0) - coalesce(a.waited_us - greatest(0, a.waiting_us - g.start_us), 0) AS waited_us
  FROM seen AS g
  ASOF LEFT JOIN levels AS a ON a.replica = g.replica AND a.at_us <= g.start_us
  ASOF LEFT JOIN levels AS b ON b.replica = g.replica AND b.at_us <= g.end_us
