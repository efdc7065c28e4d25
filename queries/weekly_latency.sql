-- title Latency by week
-- about Exact percentiles (type 7) by ISO week (UTC) of arrival, over calls that generate text, ended well and did not come from a response cache; times
-- about count from the start of the call's first attempt. ttft: first token. tpot: (last - first token) / (output tokens - 1). e2e: to the last token, or to the end.
-- level L0
-- key metric
-- key grp
-- key week_us time
-- column n samples none
-- column n_total samples none
-- column mean ms lower
-- column p50 ms lower
-- column p90 ms lower
-- column p95 ms lower
-- column p99 ms lower
-- column p99_9 ms lower
-- column max ms lower
-- quantiles value_us 1e3
WITH
-- 1970-01-05 was a Monday
placed AS (
  SELECT grp, arrival_us - mod(mod(arrival_us - 345600000000, 604800000000) + 604800000000, 604800000000) AS week_us, ttft_us, tpot_us, e2e_us
  FROM calls
  WHERE latency AND arrival_us IS NOT NULL
),
samples AS (
  SELECT 'ttft' AS metric, grp, week_us, CAST(ttft_us AS DOUBLE) AS value_us FROM placed
  UNION ALL
  SELECT 'tpot', grp, week_us, tpot_us FROM placed
  UNION ALL
  SELECT 'e2e', grp, week_us, e2e_us FROM placed
)
