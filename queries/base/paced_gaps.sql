-- about Chunk gaps on a known replica with their usual length (metrics.md 4.2), one row a gap. streams is how many decoded when it began; baseline_us the
-- about median gap at that number without prefill (of the hour, of the replica, of fewer streams, of any number: the first with 30, 30, 30, 1 such gaps;
-- about else the tenth percentile of all its gaps); excess_us what exceeds it, for a chunk that carries more than is usual in proportion.
-- param chunk_times BOOLEAN true
-- once the steps of the stall queries read it
WITH
seen AS (
  SELECT g.request_id, g.attempt, g.replica, k, gap_us, end_us, greatest(1e0, weight / usual_weight) AS load
  FROM gaps AS g LEFT JOIN buffered AS b ON b.request_id = g.request_id AND b.attempt = g.attempt
  WHERE g.replica IS NOT NULL AND end_us IS NOT NULL AND b.request_id IS NULL AND {chunk_times}
),
streams AS (
  SELECT replica, arrival_us + ttft_us AS start_us, arrival_us + coalesce(last_us, end_us) AS end_us
  FROM requests
  WHERE replica IS NOT NULL AND coalesce(last_us, end_us) > ttft_us AND arrival_us IS NOT NULL
),
-- what each window adds to the time covered by those that began before it
windows AS (
  SELECT replica, start_us, end_us,
         greatest(0, end_us - greatest(start_us, coalesce(max(end_us) OVER (PARTITION BY replica ORDER BY start_us, end_us, request_id, attempt
                                                                           ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), start_us))) AS fresh_us
  FROM prefill_windows
),
-- at one instant streams end, then streams and windows begin, then chunks look
marks AS (
  SELECT replica, start_us AS at_us, 1 AS turn, fresh_us, end_us AS until_us, 0 AS change,
         CAST(NULL AS VARCHAR) AS request_id, CAST(NULL AS INTEGER) AS attempt, CAST(NULL AS BIGINT) AS k, CAST(NULL AS BIGINT) AS gap_us, CAST(NULL AS DOUBLE) AS load
  FROM windows
  UNION ALL SELECT replica, start_us, 1, 0, NULL, 1, NULL, NULL, NULL, NULL, NULL FROM streams
  UNION ALL SELECT replica, end_us, 0, 0, NULL, -1, NULL, NULL, NULL, NULL, NULL FROM streams
  UNION ALL SELECT replica, end_us, 2, 0, NULL, 0, request_id, attempt, k, gap_us, load FROM seen
  UNION ALL SELECT replica, end_us - gap_us, 2, 0, NULL, 0, request_id, attempt, 1, NULL, NULL FROM seen WHERE k = 2
),
swept AS (
  SELECT *,
         sum(fresh_us) OVER past - greatest(0, coalesce(max(until_us) OVER past - at_us, 0)) AS covered_us,
         sum(change) OVER past AS streams
  FROM marks
  WINDOW past AS (PARTITION BY replica ORDER BY at_us, turn ROWS UNBOUNDED PRECEDING)
),
stepped AS (
  SELECT replica, request_id, attempt, k, gap_us, load, at_us AS end_us, at_us - gap_us AS start_us,
         covered_us - lag(covered_us) OVER (PARTITION BY request_id, attempt ORDER BY k) AS covered_us,
         CAST(lag(streams) OVER (PARTITION BY request_id, attempt ORDER BY k) AS BIGINT) AS streams, CAST(streams AS BIGINT) AS streams_after
  FROM swept
  WHERE turn = 2
),
origins AS (
  SELECT replica, min(start_us) AS origin_us FROM streams GROUP BY replica
),
-- exact numbers of streams up to 8, then four classes an octave
classed AS (
  SELECT s.*, covered_us < 100 AS clean, start_us - mod(start_us - origin_us, 3600000000) AS hour_us,
         CASE WHEN streams < 8 THEN streams WHEN streams < 16 THEN streams - mod(streams, 2) WHEN streams < 32 THEN streams - mod(streams, 4)
              WHEN streams < 64 THEN streams - mod(streams, 8) ELSE streams - mod(streams, 16) END AS class,
         CASE WHEN streams_after < 8 THEN streams_after WHEN streams_after < 16 THEN streams_after - mod(streams_after, 2)
              WHEN streams_after < 32 THEN streams_after - mod(streams_after, 4) WHEN streams_after < 64 THEN streams_after - mod(streams_after, 8)
              ELSE streams_after - mod(streams_after, 16) END AS class_after
  FROM stepped AS s JOIN origins AS o ON o.replica = s.replica
  WHERE gap_us IS NOT NULL
),
counted AS (
  SELECT replica, hour_us, class, clean, gap_us, count(*) AS n FROM classed GROUP BY replica, hour_us, class, clean, gap_us
),
pools AS (
  SELECT 1 AS pool, replica, hour_us, class, gap_us, n FROM counted WHERE clean
  UNION ALL SELECT 2, replica, NULL, class, gap_us, n FROM counted WHERE clean
  UNION ALL SELECT 3, replica, NULL, NULL, gap_us, n FROM counted WHERE clean
  UNION ALL SELECT 4, replica, NULL, NULL, gap_us, n FROM counted
),
cumulated AS (
  SELECT pool, replica, hour_us, class, gap_us,
         sum(n) OVER (PARTITION BY pool, replica, hour_us, class ORDER BY gap_us) AS upto,
         sum(n) OVER (PARTITION BY pool, replica, hour_us, class) AS total
  FROM pools
),
-- quantile of type 7 by counting: the median, for the last pool the tenth percentile
levels AS (
  SELECT pool, replica, hour_us, class, max(total) AS n,
         (min(CASE WHEN upto * 2 > total - 1 THEN gap_us END) + min(CASE WHEN upto * 2 >= total + 1 THEN gap_us END)) / 2e0 AS median_us,
         min(CASE WHEN upto * 10 > total - 1 THEN gap_us END) AS low_us
  FROM cumulated
  GROUP BY pool, replica, hour_us, class
),
cells AS (
  SELECT replica, hour_us, class FROM classed UNION SELECT replica, hour_us, class_after FROM classed
),
baselines AS (
  SELECT c.replica, c.hour_us, c.class,
         coalesce(CASE WHEN h.n >= 30 THEN h.median_us END, CASE WHEN r.n >= 30 THEN r.median_us END,
                  max(CASE WHEN r.n >= 30 THEN r.median_us END) OVER (PARTITION BY c.replica ORDER BY c.class),
                  a.median_us, p.low_us) AS baseline_us
  FROM cells AS c
  LEFT JOIN levels AS h ON h.pool = 1 AND h.replica = c.replica AND h.hour_us = c.hour_us AND h.class = c.class
  LEFT JOIN levels AS r ON r.pool = 2 AND r.replica = c.replica AND r.class = c.class
  LEFT JOIN levels AS a ON a.pool = 3 AND a.replica = c.replica
  LEFT JOIN levels AS p ON p.pool = 4 AND p.replica = c.replica
)
SELECT g.replica, request_id, attempt, k, start_us, end_us, gap_us, g.streams, b.baseline_us, later.baseline_us AS after_us,
       greatest(0, gap_us - CAST(round(b.baseline_us * load) AS BIGINT)) AS excess_us
FROM classed AS g
JOIN baselines AS b ON b.replica = g.replica AND b.hour_us = g.hour_us AND b.class = g.class
JOIN baselines AS later ON later.replica = g.replica AND later.hour_us = g.hour_us AND later.class = g.class_after
