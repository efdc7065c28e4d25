-- title Lengths
-- about Tokens a call, exact percentiles over attempts to generate text whatever their outcome; n_total counts these, n the ones whose length is known.
-- about input includes cached tokens, output includes reasoning; max_tokens is the caller's limit.
-- level L0
-- key measure
-- key grp
-- column n requests none
-- column n_total requests none
-- column mean tokens none
-- column p50 tokens none
-- column p90 tokens none
-- column p95 tokens none
-- column p99 tokens none
-- column p99_9 tokens none
-- column max tokens none
-- chart bar x=measure y=p50,p95,p99
-- quantiles tokens whole
WITH
asked AS (
  SELECT grp, input_tokens, cached_tokens, uncached_tokens, output_tokens, reasoning_tokens, max_tokens, system_tokens
  FROM requests
  WHERE generation AND NOT cached_response
),
samples AS (
  SELECT 'input' AS measure, grp, input_tokens AS tokens FROM asked
  UNION ALL
  SELECT 'cached', grp, cached_tokens FROM asked
  UNION ALL
  SELECT 'uncached', grp, uncached_tokens FROM asked
  UNION ALL
  SELECT 'output', grp, output_tokens FROM asked
  UNION ALL
  SELECT 'reasoning', grp, reasoning_tokens FROM asked
  UNION ALL
  SELECT 'max_tokens', grp, max_tokens FROM asked
  UNION ALL
  SELECT 'system', grp, system_tokens FROM asked
)
