-- about Each gap with the levels that hold when it begins (a) and ends (b): gaps and levels in one order of time, and the last level before.
SELECT request_id, attempt, arrival_us, grp, tenant, replica, k, gap_us, start_us, end_us, load, coalesce(a.streams, 1) AS streams, coalesce(b.streams, 1) AS streams_after,
         coalesce(b.fresh_us - greatest(0, b.until_us - end_us), 0) - coalesce(a.fresh_us - greatest(0, a.until_us - start_us), 0) AS covered_us,
         coalesce(b.waited_us - greatest(0, b.waiting_us - end_us), 0) - coalesce(a.waited_us - greatest(0, a.waiting_us - start_us), 0) AS waited_us
  FROM (
    SELECT *, last_value(level) IGNORE NULLS OVER (PARTITION BY replica ORDER BY at_us, turn ROWS UNBOUNDED PRECEDING) AS b
    FROM (
      SELECT request_id, attempt, arrival_us, grp, tenant, replica, k, gap_us, start_us, end_us, load, a, end_us AS at_us, 1 AS turn,
             CAST(NULL AS ROW(streams BIGINT, until_us BIGINT, fresh_us BIGINT, waiting_us BIGINT, waited_us BIGINT)) AS level
      FROM (
        SELECT *, last_value(level) IGNORE NULLS OVER (PARTITION BY replica ORDER BY at_us, turn ROWS UNBOUNDED PRECEDING) AS a
        FROM (
          SELECT request_id, attempt, arrival_us, grp, tenant, replica, k, gap_us, start_us, end_us, load, start_us AS at_us, 1 AS turn,
                 CAST(NULL AS ROW(streams BIGINT, until_us BIGINT, fresh_us BIGINT, waiting_us BIGINT, waited_us BIGINT)) AS level FROM seen
          UNION ALL
          SELECT NULL, NULL, NULL, NULL, NULL, replica, NULL, NULL, NULL, NULL, NULL, at_us, 0, CAST(ROW(streams, until_us, fresh_us, waiting_us, waited_us) AS ROW(streams BIGINT, until_us BIGINT, fresh_us BIGINT, waiting_us BIGINT, waited_us BIGINT)) FROM levels
        )
      )
      WHERE turn = 1
      UNION ALL
      SELECT NULL, NULL, NULL, NULL, NULL, replica, NULL, NULL, NULL, NULL, NULL, CAST(NULL AS ROW(streams BIGINT, until_us BIGINT, fresh_us BIGINT, waiting_us BIGINT, waited_us BIGINT)), at_us, 0, CAST(ROW(streams, until_us, fresh_us, waiting_us, waited_us) AS ROW(streams BIGINT, until_us BIGINT, fresh_us BIGINT, waiting_us BIGINT, waited_us BIGINT)) FROM levels
    )
  )
  WHERE turn = 1
