-- about Each stalled gap with what its replica did in its middle, as in placed.
SELECT request_id, attempt, arrival_us, k, crowd.held AS held, crowd.decoders AS decoders
  FROM (
    SELECT *, last_value(level) IGNORE NULLS OVER (PARTITION BY replica ORDER BY at_us, turn ROWS UNBOUNDED PRECEDING) AS crowd
    FROM (
      SELECT request_id, attempt, arrival_us, replica, k, mid_us AS at_us, 1 AS turn, CAST(NULL AS ROW(held BIGINT, decoders BIGINT)) AS level FROM stalls
      UNION ALL
      SELECT NULL, NULL, NULL, replica, NULL, at_us, 0, CAST(ROW(held, decoders) AS ROW(held BIGINT, decoders BIGINT)) FROM crowd
    )
  )
  WHERE turn = 1 AND crowd IS NOT NULL
