-- title Latency histogram over time
-- about Counts in logarithmic buckets, in steps of bin_us, that add up: over steps, groups and runs, by bucket, always give the histogram of the whole, of
-- about which a percentile is off by 1 % at most (percentiles themselves must never be averaged). Bucket i holds what is over lower_ms and at most upper_ms =
-- about g^i microseconds, g = 101 / 99, and stands for value_ms (DDSketch of Masson et al. 2019, relative accuracy 1 %); bucket 0 holds all up to a
-- about microsecond. Bounds are the same in every run. Metrics and parameters as in the query latency; without a bucket: the wait had no end.
-- level L0
-- param failures TEXT exclude|inf
-- param view TEXT attempts|calls
-- param bin_us BIGINT 60000000
-- param metric TEXT all|ttft|ttfvt|tpot|chunk_gap|itl|max_gap|e2e|ntpot
-- key metric
-- key grp
-- key start_us time
-- key bucket number
-- column n samples none
-- column lower_ms ms lower
-- column upper_ms ms lower
-- column value_ms ms lower
WITH
placed AS (
  SELECT metric, grp, at_us - mod(at_us, (SELECT bin_us FROM params)) AS start_us,
         CASE WHEN value_us <= 1 THEN 0 WHEN value_us < 1e18 THEN CAST(ceil(ln(value_us) / ln(101e0 / 99)) AS BIGINT) END AS bucket
  FROM latency_samples
  WHERE value_us IS NOT NULL AND (SELECT metric FROM params) IN ('all', metric)
)
SELECT metric, grp, start_us, bucket, count(*) AS n,
       CASE WHEN bucket > 0 THEN power(101e0 / 99, bucket - 1) / 1e3 WHEN bucket = 0 THEN 0e0 END AS lower_ms, power(101e0 / 99, bucket) / 1e3 AS upper_ms,
       -- as far, in proportion, from one bound as from the other
       power(101e0 / 99, bucket) * 99e-2 / 1e3 AS value_ms
FROM placed
GROUP BY metric, grp, start_us, bucket
ORDER BY metric, grp, start_us NULLS LAST, bucket NULLS LAST
