-- about Each gap that may have lost something, with the levels that hold when it begins (a) and ends (b), as in placed.
SELECT request_id, attempt, arrival_us, k,
         coalesce(b.fresh_us - greatest(0, b.until_us - end_us), 0) - coalesce(a.fresh_us - greatest(0, a.until_us - start_us), 0) AS covered_us,
         coalesce(b.active * (end_us - b.origin_us) - b.active_at, 0) - coalesce(a.active * (start_us - a.origin_us) - a.active_at, 0) AS overlap_us,
         coalesce(b.rates * (end_us - b.origin_us) - b.rates_at, 0) - coalesce(a.rates * (start_us - a.origin_us) - a.rates_at, 0) AS overlap_tokens
  FROM (
    SELECT *, last_value(level) IGNORE NULLS OVER (PARTITION BY replica ORDER BY at_us, turn ROWS UNBOUNDED PRECEDING) AS b
    FROM (
      SELECT request_id, attempt, arrival_us, replica, k, start_us, end_us, a, end_us AS at_us, 1 AS turn,
             CAST(NULL AS ROW(origin_us BIGINT, until_us BIGINT, fresh_us BIGINT, active BIGINT, active_at BIGINT, rates DOUBLE, rates_at DOUBLE)) AS level
      FROM (
        SELECT *, last_value(level) IGNORE NULLS OVER (PARTITION BY replica ORDER BY at_us, turn ROWS UNBOUNDED PRECEDING) AS a
        FROM (
          SELECT request_id, attempt, arrival_us, replica, k, start_us, end_us, start_us AS at_us, 1 AS turn,
                 CAST(NULL AS ROW(origin_us BIGINT, until_us BIGINT, fresh_us BIGINT, active BIGINT, active_at BIGINT, rates DOUBLE, rates_at DOUBLE)) AS level
          FROM tried
          UNION ALL
          SELECT NULL, NULL, NULL, replica, NULL, NULL, NULL, at_us, 0, CAST(ROW(origin_us, until_us, fresh_us, active, active_at, rates, rates_at) AS ROW(origin_us BIGINT, until_us BIGINT, fresh_us BIGINT, active BIGINT, active_at BIGINT, rates DOUBLE, rates_at DOUBLE)) FROM window_levels
        )
      )
      WHERE turn = 1
      UNION ALL
      SELECT NULL, NULL, NULL, replica, NULL, NULL, NULL, CAST(NULL AS ROW(origin_us BIGINT, until_us BIGINT, fresh_us BIGINT, active BIGINT, active_at BIGINT, rates DOUBLE, rates_at DOUBLE)), at_us, 0, CAST(ROW(origin_us, until_us, fresh_us, active, active_at, rates, rates_at) AS ROW(origin_us BIGINT, until_us BIGINT, fresh_us BIGINT, active BIGINT, active_at BIGINT, rates DOUBLE, rates_at DOUBLE)) FROM window_levels
    )
  )
  WHERE turn = 1
