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
-- each call seven times as it is read: a union would keep all calls aside
samples AS (
  SELECT measure, grp, CASE measure WHEN 'input' THEN input_tokens WHEN 'cached' THEN cached_tokens WHEN 'uncached' THEN uncached_tokens WHEN 'output' THEN output_tokens
                                    WHEN 'reasoning' THEN reasoning_tokens WHEN 'max_tokens' THEN max_tokens ELSE system_tokens END AS tokens
  FROM requests CROSS JOIN (VALUES ('input'), ('cached'), ('uncached'), ('output'), ('reasoning'), ('max_tokens'), ('system')) AS measures(measure)
  WHERE generation AND NOT cached_response
)
