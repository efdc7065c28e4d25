-- about The stretch in 30 equal steps, one row a group and step: load_us, the time of attempts in progress; arrivals; ttft_us, the mean of those that arrived, NULL
-- about without one. Attempts without an end are in arrivals and ttft_us only.
WITH
steps AS (
  SELECT grp, step, start_us + (until_us - start_us) * step // 30 AS from_us, start_us + (until_us - start_us) * (step + 1) // 30 AS till_us
  FROM (SELECT DISTINCT grp FROM requests WHERE generation AND NOT cached_response AND arrival_us IS NOT NULL) AS groups CROSS JOIN stretch
       CROSS JOIN (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9), (10), (11), (12), (13), (14), (15), (16), (17), (18), (19), (20), (21), (22), (23), (24), (25), (26), (27), (28), (29)) AS thirty(step)
  WHERE until_us - start_us >= 30
),
edges AS (
  SELECT grp, at_us, sum(change) AS change
  FROM (SELECT grp, at_us, change FROM events UNION ALL SELECT grp, from_us, 0 FROM steps UNION ALL SELECT grp, till_us, 0 FROM steps) AS marks
  GROUP BY grp, at_us
),
-- time in progress up to an edge: that many times the edge, less when each came, by the time since the first edge: the sums stay small
swept AS (
  SELECT grp, at_us, sum(change) OVER past * x_us - sum(change * x_us) OVER past AS load_us
  FROM (SELECT *, at_us - min(at_us) OVER (PARTITION BY grp) AS x_us FROM edges) AS since
  WINDOW past AS (PARTITION BY grp ORDER BY at_us ROWS UNBOUNDED PRECEDING)
),
arrived AS (
  SELECT s.grp, step, count(*) AS arrivals, avg(ttft_us) AS ttft_us
  FROM requests AS r JOIN steps AS s ON s.grp = r.grp AND arrival_us >= s.from_us AND arrival_us < s.till_us
  WHERE generation AND NOT cached_response
  GROUP BY s.grp, step
)
SELECT s.grp, CAST(s.step AS BIGINT) AS step, CAST(b.load_us - a.load_us AS BIGINT) AS load_us, coalesce(arrivals, 0) AS arrivals, ttft_us
FROM steps AS s JOIN swept AS a ON a.grp = s.grp AND a.at_us = from_us JOIN swept AS b ON b.grp = s.grp AND b.at_us = till_us
     LEFT JOIN arrived AS r ON r.grp = s.grp AND r.step = s.step
