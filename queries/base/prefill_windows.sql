-- about When a replica worked on each prompt, one row a request (metrics.md 4.1 and 4.9): it ends with the first token and lasts a_us + token_us * tokens,
-- about at most since the request came. First tokens within 1 ms are one step of the engine: one window for the sum of their tokens, split by share.
-- about source is measured where the engine tells the time, fitted, or assumed: not streamed or cut off, so laid right after the arrival. Tokens are
-- about those not cached; where that is unknown, the median of the route. One request of each step leads. Windows over 600 s are bad data and left out.
-- kept the stall queries and their steps read it
WITH
costed AS (
  SELECT s.*, a_us, token_us, prefill_us IS NOT NULL AND (first_at_us IS NOT NULL OR queue_us IS NOT NULL) AS measured
  FROM arrived_prompts AS s LEFT JOIN prefill_costs AS f ON f.model = s.model
),
kinds AS (
  SELECT *, CASE WHEN measured THEN 'measured' WHEN first_at_us IS NOT NULL THEN 'fitted' ELSE 'assumed' END AS source
  FROM costed
  WHERE measured OR token_us IS NOT NULL
),
-- first tokens of one step; equal ones are, so their order does not matter
marked AS (
  SELECT *, CASE WHEN first_at_us - lag(first_at_us) OVER (PARTITION BY replica ORDER BY first_at_us) <= 1000 THEN 0 ELSE 1 END AS fresh
  FROM kinds
  WHERE source = 'fitted'
),
stepped AS (
  SELECT *, sum(fresh) OVER (PARTITION BY replica ORDER BY first_at_us ROWS UNBOUNDED PRECEDING) AS step
  FROM marked
),
joint AS (
  SELECT replica, step, sum(tokens) AS step_tokens, count(*) AS step_requests, min(arrival_us) AS floor_us, max(first_at_us) AS step_first_us
  FROM stepped
  GROUP BY replica, step
),
lengths AS (
  SELECT request_id, attempt, tenant, model, s.replica, arrival_us, source, tokens, step_tokens, step_requests, floor_us, fresh = 1 AS leads,
         CAST(round(a_us + token_us * step_tokens) AS BIGINT) AS cost_us, step_first_us AS end_us
  FROM stepped AS s JOIN joint AS j ON j.replica = s.replica AND j.step = s.step
  UNION ALL
  SELECT request_id, attempt, tenant, model, replica, arrival_us, source, tokens, tokens, 1, arrival_us, TRUE, prefill_us,
         coalesce(first_at_us, arrival_us + queue_us + prefill_us)
  FROM kinds
  WHERE source = 'measured'
  UNION ALL
  SELECT request_id, attempt, tenant, model, replica, arrival_us, source, tokens, tokens, 1, arrival_us, TRUE, CAST(round(a_us + token_us * tokens) AS BIGINT),
         arrival_us + least(CAST(round(a_us + token_us * tokens) AS BIGINT), coalesce(whole_us, CAST(round(a_us + token_us * tokens) AS BIGINT)))
  FROM kinds
  WHERE source = 'assumed'
)
SELECT request_id, attempt, tenant, model, replica, arrival_us, source, floor_us, greatest(floor_us, end_us - cost_us) AS start_us, end_us, tokens,
       CASE WHEN step_tokens > 0 THEN tokens / step_tokens ELSE 1e0 / step_requests END AS share, leads
FROM lengths
WHERE end_us > greatest(floor_us, end_us - cost_us) AND end_us - greatest(floor_us, end_us - cost_us) <= 600000000
