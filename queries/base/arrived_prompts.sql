-- about Prompts that a known replica worked on, one row a request, with the tokens that were not cached; where that is unknown the median of the route, else of the model, else
-- about all tokens of the prompt.
-- kept the windows of every fit read it
WITH
arrived AS (
  SELECT request_id, attempt, coalesce(tenant, {unnamed}) AS tenant, app, route, coalesce(model, '') AS model, replica, arrival_us,
         arrival_us + ttft_us AS first_at_us, end_us AS whole_us, queue_us, prefill_us, input_tokens,
         CASE WHEN uncached_tokens >= 0 THEN uncached_tokens END AS uncached_tokens
  FROM requests
  WHERE replica IS NOT NULL AND arrival_us IS NOT NULL AND generation AND NOT cached_response
    AND (ttft_us IS NOT NULL OR status IN ('ok', 'ok_length', 'cancelled', 'unknown'))
),
kin AS (
  SELECT model, tenant, app, route, quantile_cont(uncached_tokens, 0.5) AS kin_tokens FROM arrived GROUP BY model, tenant, app, route
),
models AS (
  SELECT model, quantile_cont(uncached_tokens, 0.5) AS model_tokens FROM arrived GROUP BY model
)
SELECT a.request_id, a.attempt, a.tenant, a.model, a.replica, a.arrival_us, first_at_us, whole_us, queue_us, prefill_us,
       coalesce(uncached_tokens, kin_tokens, model_tokens, input_tokens, 0) * 1e0 AS tokens
FROM arrived AS a
LEFT JOIN kin AS k ON k.model = a.model AND k.tenant = a.tenant AND k.app IS NOT DISTINCT FROM a.app AND k.route IS NOT DISTINCT FROM a.route
LEFT JOIN models AS m ON m.model = a.model
