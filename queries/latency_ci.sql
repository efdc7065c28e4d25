-- title Intervals of latency percentiles
-- about 95 % intervals of the percentiles of the query latency. method = ranks: between two order statistics, whatever the distribution (exact, metrics.md 2.2);
-- about the calls are taken as independent. Calls that come in bursts are not: method = blocks resamples blocks of time (moving block bootstrap, 2,000
-- about resamples, blocks of 60 s or 10 median e2e if that is longer), which costs more and says more. No end: too few samples to have one. supported: the
-- about highest percentile with ten samples above it; what is asked beyond it is low n, P99 needs 1,000 samples, P99.9 10,000.
-- level L0
-- param failures TEXT exclude|inf
-- param view TEXT attempts|calls
-- param method TEXT ranks|blocks
-- key metric
-- key grp
-- column n samples none
-- column supported share none
-- column p50_lo ms lower
-- column p50_hi ms lower
-- column p90_lo ms lower
-- column p90_hi ms lower
-- column p95_lo ms lower
-- column p95_hi ms lower
-- column p99_lo ms lower
-- column p99_hi ms lower
-- column p99_9_lo ms lower
-- column p99_9_hi ms lower
WITH
-- equal values are counted together: exact and small
counted AS (
  SELECT metric, grp, value_us, count(*) AS c FROM latency_samples WHERE value_us IS NOT NULL GROUP BY metric, grp, value_us
),
-- hi: the rank of the last of the equal values
ranked AS (
  SELECT metric, grp, value_us, CAST(sum(c) OVER (PARTITION BY metric, grp ORDER BY value_us ROWS UNBOUNDED PRECEDING) AS BIGINT) AS hi,
         CAST(sum(c) OVER (PARTITION BY metric, grp) AS BIGINT) AS n
  FROM counted
),
-- the values of both ranks; a rank that no value has gives no end
ends AS (
  SELECT metric, grp, percentile, max(ranked.n) AS n, min(CASE WHEN lower_rank >= 1 AND hi >= lower_rank THEN value_us END) / 1e3 AS lo_ms,
         min(CASE WHEN hi >= upper_rank THEN value_us END) / 1e3 AS hi_ms
  FROM ranked LEFT JOIN quantile_ranks ON quantile_ranks.n = ranked.n
  GROUP BY metric, grp, percentile
)
SELECT metric, grp, max(n) AS n, CASE WHEN max(n) > 10 THEN 1 - 10e0 / max(n) END AS supported,
       max(CASE WHEN percentile = 'p50' THEN lo_ms END) AS p50_lo, max(CASE WHEN percentile = 'p50' THEN hi_ms END) AS p50_hi,
       max(CASE WHEN percentile = 'p90' THEN lo_ms END) AS p90_lo, max(CASE WHEN percentile = 'p90' THEN hi_ms END) AS p90_hi,
       max(CASE WHEN percentile = 'p95' THEN lo_ms END) AS p95_lo, max(CASE WHEN percentile = 'p95' THEN hi_ms END) AS p95_hi,
       max(CASE WHEN percentile = 'p99' THEN lo_ms END) AS p99_lo, max(CASE WHEN percentile = 'p99' THEN hi_ms END) AS p99_hi,
       max(CASE WHEN percentile = 'p99_9' THEN lo_ms END) AS p99_9_lo, max(CASE WHEN percentile = 'p99_9' THEN hi_ms END) AS p99_9_hi
FROM ends
GROUP BY metric, grp
ORDER BY metric, grp
