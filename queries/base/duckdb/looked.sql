-- about Each gap that may have lost something, with the levels that hold when it begins (a) and ends (b).
SELECT request_id, attempt, arrival_us, k,
         coalesce(b.fresh_us - greatest(0, b.until_us - g.end_us), 0) - coalesce(a.fresh_us - greatest(0, a.until_us - g.start_us), 0) AS covered_us,
         coalesce(b.active * (g.end_us - b.origin_us) - b.active_at, 0) - coalesce(a.active * (g.start_us - a.origin_us) - a.active_at, 0) AS overlap_us,
         coalesce(b.rates * (g.end_us - b.origin_us) - b.rates_at, 0) - coalesce(a.rates * (g.start_us - a.origin_us) - a.rates_at, 0) AS overlap_tokens
  FROM tried AS g
  ASOF LEFT JOIN window_levels AS a ON a.replica = g.replica AND a.at_us <= g.start_us
  ASOF LEFT JOIN window_levels AS b ON b.replica = g.replica AND b.at_us <= g.end_us
