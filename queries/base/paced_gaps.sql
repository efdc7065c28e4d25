-- about Chunk gaps on a known replica with their usual length (metrics.md 4.2), one row a gap. streams is how many decoded when it began; baseline_us the
-- about median gap at that number without prefill (of the hour, of the replica, of fewer streams, of any number: the first with 30, 30, 30, 1 such gaps;
-- about else the tenth percentile of all its gaps), after_us that at the number when it ended; excess_us what exceeds it, for a chunk that carries more
-- about than is usual in proportion; waited_us the part in which some request waited for its first token, clean: less
-- about than .1 ms of it lies in prefills; batch: the class of streams. Streams that came in bursts are left out.
-- param chunk_times BOOLEAN true
-- kept the stall queries and their steps read it
WITH
seen AS (
  SELECT g.request_id, g.attempt, g.grp, coalesce(tenant, 'unknown') AS tenant, replica, k, gap_us, end_us - gap_us AS start_us, end_us,
         greatest(1e0, weight / usual_weight) AS load
  FROM gaps AS g LEFT JOIN buffered AS b ON b.request_id = g.request_id AND b.attempt = g.attempt
  WHERE replica IS NOT NULL AND end_us IS NOT NULL AND b.request_id IS NULL AND {chunk_times}
),
streams AS (
  SELECT replica, arrival_us + ttft_us AS start_us, arrival_us + coalesce(last_us, end_us) AS end_us
  FROM requests
  WHERE replica IS NOT NULL AND coalesce(last_us, end_us) > ttft_us AND arrival_us IS NOT NULL
),
-- fresh_us is what a window adds to the time that those which began before it cover, waited_us the same from the arrival on
edges AS (
  SELECT replica, start_us AS at_us, 0 AS change, end_us AS until_us, NULL AS waiting_us, 0 AS waited_us,
         greatest(0, end_us - greatest(start_us, coalesce(max(end_us) OVER (PARTITION BY replica ORDER BY start_us, end_us, request_id, attempt
                                                                           ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), start_us))) AS fresh_us
  FROM prefill_windows
  UNION ALL
  SELECT replica, arrival_us, 0, NULL, end_us,
         greatest(0, end_us - greatest(arrival_us, coalesce(max(end_us) OVER (PARTITION BY replica ORDER BY arrival_us, end_us, request_id, attempt
                                                                             ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), arrival_us))), 0
  FROM prefill_windows
  UNION ALL SELECT replica, start_us, 1, NULL, NULL, 0, 0 FROM streams
  UNION ALL SELECT replica, end_us, -1, NULL, NULL, 0, 0 FROM streams
),
steps AS (
  SELECT replica, at_us, sum(change) AS change, max(until_us) AS until_us, sum(fresh_us) AS fresh_us, max(waiting_us) AS waiting_us, sum(waited_us) AS waited_us
  FROM edges
  GROUP BY replica, at_us
),
-- time covered up to x: that of the windows begun, less what of it comes after x
levels AS (
  SELECT replica, at_us, CAST(sum(change) OVER past AS BIGINT) AS streams,
         coalesce(max(until_us) OVER past, 0) AS until_us, CAST(sum(fresh_us) OVER past AS BIGINT) AS fresh_us,
         coalesce(max(waiting_us) OVER past, 0) AS waiting_us, CAST(sum(waited_us) OVER past AS BIGINT) AS waited_us
  FROM steps
  WINDOW past AS (PARTITION BY replica ORDER BY at_us ROWS UNBOUNDED PRECEDING)
),
placed AS (
  {placed}
),
origins AS (
  SELECT replica, min(start_us) AS origin_us FROM streams GROUP BY replica
),
-- exact numbers of streams up to 8, then four classes an octave
classed AS (
  SELECT p.*, start_us - mod(start_us - origin_us, 3600000000) AS hour_us,
         CASE WHEN streams < 8 THEN streams WHEN streams < 16 THEN streams - mod(streams, 2) WHEN streams < 32 THEN streams - mod(streams, 4)
              WHEN streams < 64 THEN streams - mod(streams, 8) ELSE streams - mod(streams, 16) END AS class,
         CASE WHEN streams_after < 8 THEN streams_after WHEN streams_after < 16 THEN streams_after - mod(streams_after, 2)
              WHEN streams_after < 32 THEN streams_after - mod(streams_after, 4) WHEN streams_after < 64 THEN streams_after - mod(streams_after, 8)
              ELSE streams_after - mod(streams_after, 16) END AS class_after
  FROM placed AS p JOIN origins AS o ON o.replica = p.replica
),
pools AS (
  SELECT replica, hour_us, class, count(*) FILTER (WHERE covered_us < 100) AS n, quantile_cont(gap_us, 0.5) FILTER (WHERE covered_us < 100) AS median_us,
         CASE WHEN class IS NULL THEN quantile_cont(gap_us, 0.1) END AS low_us
  FROM classed
  GROUP BY GROUPING SETS ((replica, hour_us, class), (replica, class), (replica))
),
cells AS (
  SELECT replica, hour_us, class FROM classed UNION SELECT replica, hour_us, class_after FROM classed
),
baselines AS (
  SELECT c.replica, c.hour_us, c.class,
         coalesce(CASE WHEN h.n >= 30 THEN h.median_us END, CASE WHEN r.n >= 30 THEN r.median_us END,
                  max(CASE WHEN r.n >= 30 THEN r.median_us END) OVER (PARTITION BY c.replica ORDER BY c.class),
                  a.median_us, a.low_us) AS baseline_us
  FROM cells AS c
  LEFT JOIN pools AS h ON h.replica = c.replica AND h.hour_us = c.hour_us AND h.class = c.class
  LEFT JOIN pools AS r ON r.replica = c.replica AND r.hour_us IS NULL AND r.class = c.class
  LEFT JOIN pools AS a ON a.replica = c.replica AND a.hour_us IS NULL AND a.class IS NULL
)
SELECT g.replica, request_id, attempt, grp, tenant, k, start_us, end_us, gap_us, g.streams, CAST(g.class AS BIGINT) AS batch, covered_us < 100 AS clean, waited_us, b.baseline_us, later.baseline_us AS after_us,
       greatest(0, gap_us - CAST(round(b.baseline_us * load) AS BIGINT)) AS excess_us
FROM classed AS g
JOIN baselines AS b ON b.replica = g.replica AND b.hour_us = g.hour_us AND b.class = g.class
JOIN baselines AS later ON later.replica = g.replica AND later.hour_us = g.hour_us AND later.class = g.class_after
