-- title Token gaps
-- about Every gap between chunks of answered streams, pooled (a percentile over gaps, not over requests): exact percentiles, the share of gaps longer than
-- about 50 to 400 ms, the share of decode time that lies in them, and the share of requests whose longest gap is longer. One bad gap in 200 spoils
-- about most answers, so the shares of requests say more than p99. Chunks of one read are merged.
-- level L2
-- key grp
-- column n gaps none
-- column requests requests none
-- column mean_ms ms lower
-- column p50_ms ms lower
-- column p90_ms ms lower
-- column p95_ms ms lower
-- column p99_ms ms lower
-- column p99_9_ms ms lower
-- column max_ms ms lower
-- column gaps_over_50ms share lower
-- column gaps_over_100ms share lower
-- column gaps_over_200ms share lower
-- column gaps_over_400ms share lower
-- column time_over_50ms share lower
-- column time_over_100ms share lower
-- column time_over_200ms share lower
-- column time_over_400ms share lower
-- column requests_over_50ms share lower
-- column requests_over_100ms share lower
-- column requests_over_200ms share lower
-- column requests_over_400ms share lower
WITH
-- equal gaps are counted together: exact and small
counted AS (
  SELECT grp, gap_us, c FROM gap_counts WHERE what = 'gap'
),
-- hi: the rank of the last of the equal gaps
ranked AS (
  SELECT grp, gap_us, c, CAST(sum(c) OVER (PARTITION BY grp ORDER BY gap_us ROWS UNBOUNDED PRECEDING) AS BIGINT) AS hi,
         CAST(sum(c) OVER (PARTITION BY grp) AS BIGINT) AS n
  FROM counted
),
-- type 7: h = (n - 1) a / b, between the values of rank floor(h) + 1 and floor(h) + 2
picked AS (
  SELECT grp, p, a, b, max(n) AS n, min(CASE WHEN hi * b > (n - 1) * a THEN gap_us END) AS low_us,
         min(CASE WHEN (hi - 1) * b >= (n - 1) * a THEN gap_us END) AS high_us
  FROM ranked CROSS JOIN (VALUES ('p50', 50, 100), ('p90', 90, 100), ('p95', 95, 100), ('p99', 99, 100), ('p99_9', 999, 1000)) AS wanted(p, a, b)
  GROUP BY grp, p, a, b
),
quantiles AS (
  SELECT grp, p, (low_us + mod((n - 1) * a, b) * 1e0 / b * (coalesce(high_us, low_us) - low_us)) / 1e3 AS ms FROM picked
),
percentiles AS (
  SELECT grp, max(CASE WHEN p = 'p50' THEN ms END) AS p50_ms, max(CASE WHEN p = 'p90' THEN ms END) AS p90_ms, max(CASE WHEN p = 'p95' THEN ms END) AS p95_ms,
         max(CASE WHEN p = 'p99' THEN ms END) AS p99_ms, max(CASE WHEN p = 'p99_9' THEN ms END) AS p99_9_ms
  FROM quantiles GROUP BY grp
),
-- of gaps and of the time in them
shares AS (
  SELECT grp, CAST(sum(c) AS BIGINT) AS n, sum(c * gap_us) * 1e0 AS time_us, max(gap_us) AS longest_us,
         sum(CASE WHEN gap_us > 50000 THEN c ELSE 0 END) AS n50, sum(CASE WHEN gap_us > 50000 THEN c * gap_us ELSE 0 END) AS t50,
         sum(CASE WHEN gap_us > 100000 THEN c ELSE 0 END) AS n100, sum(CASE WHEN gap_us > 100000 THEN c * gap_us ELSE 0 END) AS t100,
         sum(CASE WHEN gap_us > 200000 THEN c ELSE 0 END) AS n200, sum(CASE WHEN gap_us > 200000 THEN c * gap_us ELSE 0 END) AS t200,
         sum(CASE WHEN gap_us > 400000 THEN c ELSE 0 END) AS n400, sum(CASE WHEN gap_us > 400000 THEN c * gap_us ELSE 0 END) AS t400
  FROM counted GROUP BY grp
),
streams AS (
  SELECT grp, CAST(sum(c) AS BIGINT) AS requests, sum(CASE WHEN gap_us > 50000 THEN c ELSE 0 END) * 1e0 / sum(c) AS r50, sum(CASE WHEN gap_us > 100000 THEN c ELSE 0 END) * 1e0 / sum(c) AS r100,
         sum(CASE WHEN gap_us > 200000 THEN c ELSE 0 END) * 1e0 / sum(c) AS r200, sum(CASE WHEN gap_us > 400000 THEN c ELSE 0 END) * 1e0 / sum(c) AS r400
  FROM gap_counts WHERE what = 'longest' GROUP BY grp
)
SELECT shares.grp, n, requests, time_us / n / 1e3 AS mean_ms, p50_ms, p90_ms, p95_ms, p99_ms, p99_9_ms, longest_us / 1e3 AS max_ms,
       n50 * 1e0 / n AS gaps_over_50ms, n100 * 1e0 / n AS gaps_over_100ms, n200 * 1e0 / n AS gaps_over_200ms, n400 * 1e0 / n AS gaps_over_400ms,
       CASE WHEN time_us > 0 THEN t50 / time_us END AS time_over_50ms, CASE WHEN time_us > 0 THEN t100 / time_us END AS time_over_100ms,
       CASE WHEN time_us > 0 THEN t200 / time_us END AS time_over_200ms, CASE WHEN time_us > 0 THEN t400 / time_us END AS time_over_400ms,
       r50 AS requests_over_50ms, r100 AS requests_over_100ms, r200 AS requests_over_200ms, r400 AS requests_over_400ms
FROM shares JOIN percentiles ON shares.grp = percentiles.grp JOIN streams ON shares.grp = streams.grp
ORDER BY shares.grp
