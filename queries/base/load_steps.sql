-- about The stretch in 30 equal steps, one row a group and step: load_us, the time of attempts in progress; arrivals; ttft_us, the mean of those that arrived, NULL
-- about without one. Attempts without an end are in arrivals and ttft_us only.
-- once every reading would read the calls again
WITH
-- step n begins us * n // 30 after the start
timed AS (
  SELECT grp, until_us - start_us AS us, arrival_us - start_us AS came_us, end_us >= 0 AS ends, ttft_us,
         CASE WHEN end_us >= 0 AND arrival_us + end_us < until_us THEN arrival_us + end_us - start_us END AS left_us
  FROM requests CROSS JOIN stretch
  WHERE generation AND NOT cached_response AND arrival_us IS NOT NULL AND until_us - start_us >= 30
),
placed AS (
  SELECT *, (30 * (came_us + 1) - 1) // us AS came, (30 * (left_us + 1) - 1) // us AS went FROM timed
),
-- one row a step of arrival and step of end: no call is sorted
counted AS (
  SELECT grp, us, came, went, count(*) AS arrivals, sum(CASE WHEN ends THEN 1 ELSE 0 END) AS n, sum(CASE WHEN ends THEN came_us - us * came // 30 ELSE 0 END) AS into_us,
         sum(left_us - us * went // 30) AS until_us, count(ttft_us) AS ttfts, sum(ttft_us) AS ttft_us
  FROM placed
  GROUP BY grp, us, came, went
),
steps AS (
  SELECT c.*, step, us * (step + 1) // 30 - us * step // 30 AS width_us
  FROM counted AS c CROSS JOIN (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9), (10), (11), (12), (13), (14), (15), (16), (17), (18), (19), (20), (21), (22), (23), (24), (25), (26), (27), (28), (29)) AS numbered(step)
)
-- in a step is the time from each arrival to its end, less the time from each end
SELECT grp, CAST(step AS BIGINT) AS step,
       CAST(sum(CASE WHEN came < step THEN n * width_us WHEN came = step THEN n * width_us - into_us ELSE 0 END
                - CASE WHEN went < step THEN n * width_us WHEN went = step THEN n * width_us - until_us ELSE 0 END) AS BIGINT) AS load_us,
       CAST(sum(CASE WHEN came = step THEN arrivals ELSE 0 END) AS BIGINT) AS arrivals,
       sum(CASE WHEN came = step THEN ttft_us END) * 1e0 / nullif(sum(CASE WHEN came = step THEN ttfts END), 0) AS ttft_us
FROM steps
GROUP BY grp, step
