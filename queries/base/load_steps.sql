-- about The stretch in 30 equal steps, one row a group and step: load_us, the time of attempts in progress; arrivals; ttft_us, the mean of those that arrived, NULL
-- about without one. Attempts without an end are in arrivals and ttft_us only.
-- once every reading would sweep the calls again
WITH
-- where each step begins, and where the last one ends
bounds AS (
  SELECT grp, step, at_us, lead(at_us) OVER (PARTITION BY grp ORDER BY step) AS till_us
  FROM (
    SELECT grp, step, start_us + (until_us - start_us) * step // 30 AS at_us
    FROM (SELECT DISTINCT grp FROM requests WHERE generation AND NOT cached_response AND arrival_us IS NOT NULL) AS groups CROSS JOIN stretch
         CROSS JOIN (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9), (10), (11), (12), (13), (14), (15), (16), (17), (18), (19), (20), (21), (22), (23), (24), (25), (26), (27), (28), (29), (30)) AS numbered(step)
    WHERE until_us - start_us >= 30
  )
),
edges AS (
  SELECT grp, at_us, sum(change) AS change, max(step) AS step
  FROM (SELECT grp, at_us, change, CAST(NULL AS INTEGER) AS step FROM events UNION ALL SELECT grp, at_us, 0, step FROM bounds) AS marks
  GROUP BY grp, at_us
),
-- time in progress up to an edge: that many times the edge, less when each came, by the time since the first edge: the sums stay small
swept AS (
  SELECT grp, step, sum(change) OVER past * x_us - sum(change * x_us) OVER past AS load_us
  FROM (SELECT *, at_us - min(at_us) OVER (PARTITION BY grp) AS x_us FROM edges) AS since
  WINDOW past AS (PARTITION BY grp ORDER BY at_us ROWS UNBOUNDED PRECEDING)
),
-- no join of the edges with themselves: its size would be the square of the calls if it came first
loads AS (
  SELECT grp, step, lead(load_us) OVER (PARTITION BY grp ORDER BY step) - load_us AS load_us
  FROM swept
  WHERE step IS NOT NULL
),
arrived AS (
  SELECT b.grp, step, count(*) AS arrivals, avg(ttft_us) AS ttft_us
  FROM requests AS r JOIN bounds AS b ON b.grp = r.grp AND arrival_us >= b.at_us AND arrival_us < b.till_us
  WHERE generation AND NOT cached_response
  GROUP BY b.grp, step
)
SELECT l.grp, CAST(l.step AS BIGINT) AS step, CAST(l.load_us AS BIGINT) AS load_us, coalesce(arrivals, 0) AS arrivals, ttft_us
FROM loads AS l LEFT JOIN arrived AS a ON a.grp = l.grp AND a.step = l.step
WHERE l.step < 30
