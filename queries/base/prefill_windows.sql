-- about When a replica worked on each prompt, one row a request (metrics.md 4.1 and 4.9): it ends with the first token and lasts a_us + token_us * tokens,
-- about at most since the request came. First tokens within 1 ms are one step of the engine: one window for the sum of their tokens, split by share.
-- about source is measured where the engine tells the time, fitted, or assumed: not streamed or cut off, so laid right after the arrival. Tokens are
-- about those not cached; where that is unknown, the median of the route. Windows over 600 s are bad data and left out.
-- kept the stall queries and their steps read it
WITH
arrived AS (
  SELECT request_id, attempt, coalesce(tenant, 'unknown') AS tenant, app, route, coalesce(model, '') AS model, replica, arrival_us,
         arrival_us + ttft_us AS first_at_us, end_us AS whole_us, queue_us, prefill_us, input_tokens,
         CASE WHEN uncached_tokens >= 0 THEN uncached_tokens END AS uncached_tokens
  FROM requests
  WHERE replica IS NOT NULL AND arrival_us IS NOT NULL AND generation AND NOT cached_response
    AND (ttft_us IS NOT NULL OR status IN ('ok', 'ok_length', 'cancelled', 'unknown'))
),
-- medians by rank: row r of n known ones with n <= 2 r <= n + 2
ranked AS (
  SELECT *,
         count(uncached_tokens) OVER (PARTITION BY model, tenant, app, route) AS kin,
         row_number() OVER (PARTITION BY model, tenant, app, route ORDER BY uncached_tokens NULLS LAST, request_id, attempt) AS kin_rank,
         count(uncached_tokens) OVER (PARTITION BY model) AS all_known,
         row_number() OVER (PARTITION BY model ORDER BY uncached_tokens NULLS LAST, request_id, attempt) AS all_rank
  FROM arrived
),
sized AS (
  SELECT *,
         coalesce(uncached_tokens,
                  avg(CASE WHEN 2 * kin_rank BETWEEN kin AND kin + 2 THEN uncached_tokens END) OVER (PARTITION BY model, tenant, app, route),
                  avg(CASE WHEN 2 * all_rank BETWEEN all_known AND all_known + 2 THEN uncached_tokens END) OVER (PARTITION BY model),
                  input_tokens, 0) * 1e0 AS tokens
  FROM ranked
),
costed AS (
  SELECT s.*, a_us, token_us, prefill_us IS NOT NULL AND (first_at_us IS NOT NULL OR queue_us IS NOT NULL) AS measured
  FROM sized AS s LEFT JOIN prefill_fits AS f ON f.model = s.model
),
kinds AS (
  SELECT *, CASE WHEN measured THEN 'measured' WHEN first_at_us IS NOT NULL THEN 'fitted' ELSE 'assumed' END AS source
  FROM costed
  WHERE measured OR token_us IS NOT NULL
),
-- first tokens of one step
marked AS (
  SELECT *, CASE WHEN source = 'fitted'
                   AND first_at_us - lag(first_at_us) OVER (PARTITION BY replica, source ORDER BY first_at_us, request_id, attempt) <= 1000
                 THEN 0 ELSE 1 END AS fresh
  FROM kinds
),
stepped AS (
  SELECT *, sum(fresh) OVER (PARTITION BY replica, source ORDER BY first_at_us, request_id, attempt ROWS UNBOUNDED PRECEDING) AS step
  FROM marked
),
summed AS (
  SELECT *,
         sum(tokens) OVER (PARTITION BY replica, source, step) AS step_tokens,
         count(*) OVER (PARTITION BY replica, source, step) AS step_requests,
         min(arrival_us) OVER (PARTITION BY replica, source, step) AS floor_us,
         max(first_at_us) OVER (PARTITION BY replica, source, step) AS step_first_us,
         row_number() OVER (PARTITION BY replica, source, step ORDER BY request_id, attempt) AS place
  FROM stepped
),
lengths AS (
  SELECT *, CAST(CASE WHEN measured THEN prefill_us ELSE round(a_us + token_us * step_tokens) END AS BIGINT) AS cost_us
  FROM summed
),
placed AS (
  SELECT *,
         CASE source WHEN 'fitted' THEN step_first_us
                     WHEN 'measured' THEN coalesce(first_at_us, arrival_us + queue_us + prefill_us)
                     ELSE arrival_us + least(cost_us, coalesce(whole_us, cost_us)) END AS end_us
  FROM lengths
)
SELECT request_id, attempt, tenant, model, replica, arrival_us, source, floor_us, greatest(floor_us, end_us - cost_us) AS start_us, end_us, tokens,
       CASE WHEN step_tokens > 0 THEN tokens / step_tokens ELSE 1e0 / step_requests END AS share, place = 1 AS leads
FROM placed
WHERE end_us > greatest(floor_us, end_us - cost_us) AND end_us - greatest(floor_us, end_us - cost_us) <= 600000000
