-- title Latency
-- about Exact percentiles (type 7) over calls that generate text, ended well and did not come from a response cache; n_total counts these, n the ones
-- about that have the metric. failures = inf puts failed calls in as infinitely slow. ttft: first token, also of answers that broke off later.
-- about ttfvt: first token that is not reasoning. tpot: (last - first token) / (output tokens - 1). chunk_gap: time between chunks. itl: gap / tokens
-- about of its chunk, counted once a token. max_gap: longest gap of a request. e2e: to the last token, or to the end when not streamed.
-- about ntpot: e2e / output tokens.
-- level L0
-- param failures TEXT exclude|inf
-- key metric
-- key grp
-- column n samples none
-- column n_total samples none
-- column mean ms lower
-- column p50 ms lower
-- column p90 ms lower
-- column p95 ms lower
-- column p99 ms lower
-- column p99_9 ms lower
-- column max ms lower
-- chart bar x=metric y=p50,p95,p99
-- quantiles value_us 1e3
WITH
-- calls that were not given whole and failed: a first token that came counts, else the wait has no end
failed AS (
  SELECT grp, ttft_us, CASE WHEN (SELECT failures FROM params) = 'inf' THEN CAST('Infinity' AS DOUBLE) END AS never_us
  FROM requests
  WHERE status = 'failed' AND generation AND NOT cached_response
),
samples AS (
  SELECT 'ttft' AS metric, grp, CAST(ttft_us AS DOUBLE) AS value_us FROM requests WHERE latency
  UNION ALL
  SELECT 'ttft', grp, coalesce(ttft_us, never_us) FROM failed WHERE coalesce(ttft_us, never_us) IS NOT NULL
  UNION ALL
  SELECT 'ttfvt', grp, ttfvt_us FROM requests WHERE latency
  UNION ALL
  SELECT 'tpot', grp, tpot_us FROM requests WHERE latency
  UNION ALL
  SELECT 'max_gap', grp, max_gap_us FROM requests WHERE latency
  UNION ALL
  SELECT 'e2e', grp, e2e_us FROM requests WHERE latency
  UNION ALL
  SELECT 'ntpot', grp, ntpot_us FROM requests WHERE latency
  UNION ALL
  SELECT metric, grp, never_us
  FROM failed CROSS JOIN (VALUES ('ttfvt'), ('tpot'), ('max_gap'), ('e2e'), ('ntpot')) AS metrics(metric)
  WHERE never_us IS NOT NULL
  UNION ALL
  SELECT 'chunk_gap', grp, gap_us FROM gaps
  UNION ALL
  SELECT 'itl', grp, step_us FROM token_steps
)
