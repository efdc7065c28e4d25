-- about What latency percentiles are taken over (metrics.md 0.2 and 1), one row a sample: metric, value_us, at_us (arrival of the call, of a gap its end) and
-- about tokens (output tokens of the call, of a gap those of its chunk, of an itl 1; NULL unknown). Calls that generate text, ended well and did not come
-- about from a response cache have a row a metric, value_us NULL where the log does not tell it. failures = inf puts failed calls in as infinitely
-- about slow. ttft also counts answers that broke off later. view = calls takes attempts of one call together, times as the caller saw them.
-- param failures TEXT exclude|inf
-- param view TEXT attempts|calls
WITH
asked AS NOT MATERIALIZED (
  SELECT *, arrival_us AS own_arrival_us FROM requests WHERE {view} = 'attempts'
  UNION ALL
  SELECT * FROM callers WHERE {view} = 'calls'
),
-- the attempt that speaks for a call is known by its own arrival too, which may be unknown: clients send an id twice
speaking AS NOT MATERIALIZED (
  SELECT request_id, attempt, coalesce(own_arrival_us, -1) AS began_us FROM callers
),
began AS NOT MATERIALIZED (
  SELECT 'chunk_gap' AS metric, grp, end_us AS at_us, tokens, CAST(gap_us AS DOUBLE) AS value_us, request_id, attempt, coalesce(arrival_us, -1) AS began_us FROM gaps
  UNION ALL
  SELECT 'itl', grp, end_us, 1, step_us, request_id, attempt, coalesce(arrival_us, -1) FROM token_steps
),
pieces AS NOT MATERIALIZED (
  SELECT * FROM began WHERE {view} = 'attempts'
  UNION ALL
  SELECT * FROM began SEMI JOIN speaking USING (request_id, attempt, began_us) WHERE {view} = 'calls'
),
-- calls that failed: a first token that came counts, else the wait has no end; what is not streamed waits for its end alone
failed AS NOT MATERIALIZED (
  SELECT grp, arrival_us, output_tokens, ttft_us, coalesce(whole, FALSE) AS whole, CASE WHEN {failures} = 'inf' THEN CAST('Infinity' AS DOUBLE) END AS never_us
  FROM asked
  WHERE status = 'failed' AND generation AND NOT cached_response
)
-- each call as it is read: a branch a metric would read the run as often
SELECT metric, grp, arrival_us AS at_us, output_tokens AS tokens,
       CASE metric WHEN 'ttft' THEN CAST(ttft_us AS DOUBLE) WHEN 'ttfvt' THEN CAST(ttfvt_us AS DOUBLE) WHEN 'tpot' THEN tpot_us
                   WHEN 'e2e' THEN CAST(e2e_us AS DOUBLE) ELSE ntpot_us END AS value_us
FROM asked CROSS JOIN (VALUES ('ttft'), ('ttfvt'), ('tpot'), ('e2e'), ('ntpot')) AS metrics(metric)
WHERE latency
UNION ALL
SELECT 'max_gap', grp, arrival_us, output_tokens, max_gap_us FROM asked WHERE latency
UNION ALL
SELECT 'ttft', grp, arrival_us, output_tokens, coalesce(ttft_us, CASE WHEN NOT whole THEN never_us END) FROM failed WHERE coalesce(ttft_us, never_us) IS NOT NULL
UNION ALL
SELECT metric, grp, arrival_us, output_tokens, CASE WHEN NOT whole OR metric IN ('e2e', 'ntpot') THEN never_us END
FROM failed CROSS JOIN (VALUES ('ttfvt'), ('tpot'), ('max_gap'), ('e2e'), ('ntpot')) AS metrics(metric)
WHERE never_us IS NOT NULL
UNION ALL
SELECT metric, grp, at_us, tokens, value_us FROM pieces
