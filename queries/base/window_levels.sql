-- about What of each replica's time stretched_windows cover up to each of their edges, one row an edge: once however many (fresh_us, of which what comes after x goes
-- about off), added up over windows (active x less active_at) and in tokens (rates x less rates_at), x counted from origin_us.
WITH
windows AS (
  SELECT replica, start_us, end_us, CASE WHEN leads THEN 1 ELSE 0 END AS one, tokens / (end_us - start_us) AS rate,
         start_us - min(start_us) OVER (PARTITION BY replica) AS x0_us, end_us - min(start_us) OVER (PARTITION BY replica) AS x1_us,
         greatest(0, end_us - greatest(start_us, coalesce(max(end_us) OVER (PARTITION BY replica ORDER BY start_us, end_us, request_id, attempt
                                                                           ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), start_us))) AS fresh_us
  FROM stretched_windows
),
edges AS (
  SELECT replica, start_us AS at_us, end_us AS until_us, fresh_us, one AS change, one * x0_us AS change_at, rate, rate * x0_us AS rate_at FROM windows
  UNION ALL SELECT replica, end_us, NULL, 0, -one, -one * x1_us, -rate, -rate * x1_us FROM windows
),
steps AS (
  SELECT replica, at_us, max(until_us) AS until_us, sum(fresh_us) AS fresh_us, sum(change) AS change, sum(change_at) AS change_at,
         sum(rate ORDER BY rate) AS rate, sum(rate_at ORDER BY rate_at) AS rate_at
  FROM edges
  GROUP BY replica, at_us
)
-- sums of past edges give the integrals up to x: sum(change) x - sum(change at), with x counted from the replica's first window
SELECT replica, at_us, min(at_us) OVER (PARTITION BY replica) AS origin_us, max(until_us) OVER past AS until_us,
       CAST(sum(fresh_us) OVER past AS BIGINT) AS fresh_us, CAST(sum(change) OVER past AS BIGINT) AS active,
       CAST(sum(change_at) OVER past AS BIGINT) AS active_at, sum(rate) OVER past AS rates, sum(rate_at) OVER past AS rates_at
FROM steps
WINDOW past AS (PARTITION BY replica ORDER BY at_us ROWS UNBOUNDED PRECEDING)
