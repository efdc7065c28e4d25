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
-- each call three times as it is read: a union would keep all calls aside. 1970-01-05 was a Monday
samples AS (
  SELECT metric, grp, arrival_us - mod(mod(arrival_us - 345600000000, 604800000000) + 604800000000, 604800000000) AS week_us,
         CASE metric WHEN 'ttft' THEN CAST(ttft_us AS DOUBLE) WHEN 'tpot' THEN tpot_us ELSE CAST(e2e_us AS DOUBLE) END AS value_us
  FROM calls CROSS JOIN (VALUES ('ttft'), ('tpot'), ('e2e')) AS metrics(metric)
  WHERE latency AND arrival_us IS NOT NULL
)
