-- title What was different during the incident
-- about Load inside the window against the rest of the time range, by each value of each dimension. Prefill tokens are input tokens less cached ones (all of them where the log does not know); their rates and means are of the requests that tell input tokens. share_of_excess: this value's growth in prefill tokens/s, as a share of the growth of all values of its dimension that grew.
-- param window_from_us BIGINT 0
-- param window_to_us BIGINT 0
-- key dimension
-- key name
-- column requests requests none
-- column bad requests lower
-- column rate_base requests/s none
-- column rate requests/s none
-- column prefill_base tokens/s none
-- column prefill tokens/s none
-- column prefill_mean_base tokens none
-- column prefill_mean tokens none
-- column cached_share_base share higher
-- column cached_share share higher
-- column share_of_excess share none
-- level L0
WITH
-- seconds inside the window and outside, within the span of arrivals: the window may reach beyond it
span AS (
  SELECT CASE WHEN to_us > from_us THEN greatest(inside_us, least(to_us - from_us, 1000000)) / 1e6 END AS inside_s, greatest(all_us - inside_us, 1000000) / 1e6 AS outside_s
  FROM (
    SELECT window_from_us AS from_us, window_to_us AS to_us, max(arrival_us) - min(arrival_us) AS all_us,
           greatest(least(window_to_us, max(arrival_us)) - greatest(window_from_us, min(arrival_us)), 0) AS inside_us
    FROM requests CROSS JOIN params
    GROUP BY window_from_us, window_to_us
  )
),
marked AS (
  SELECT arrival_us >= window_from_us AND arrival_us < window_to_us AS inside, tenant, app, route, model, replica,
         CASE WHEN input_tokens < 256 THEN 'under 256 tokens' WHEN input_tokens < 1024 THEN '256 to 1023 tokens'
              WHEN input_tokens < 4096 THEN '1024 to 4095 tokens' WHEN input_tokens IS NOT NULL THEN '4096 tokens and more' END AS prompt,
         CASE WHEN verdict = 'bad' THEN 1 ELSE 0 END AS is_bad, CASE WHEN input_tokens IS NOT NULL THEN greatest(input_tokens - coalesce(cached_tokens, 0), 0) END AS fresh, cached_tokens,
         CASE WHEN cached_tokens IS NOT NULL THEN input_tokens END AS known_input
  FROM judged CROSS JOIN params
  WHERE generation AND arrival_us IS NOT NULL
),
-- requests that are alike in all of it are added up once, so that no row a request is kept
counted AS (
  SELECT inside, tenant, app, route, model, replica, prompt, count(*) AS n, CAST(sum(is_bad) AS BIGINT) AS bad, CAST(sum(fresh) AS BIGINT) AS fresh, count(fresh) AS told,
         CAST(sum(cached_tokens) AS BIGINT) AS cached, CAST(sum(known_input) AS BIGINT) AS input
  FROM marked
  GROUP BY inside, tenant, app, route, model, replica, prompt
),
by_value AS (
  SELECT 'all' AS dimension, 'all' AS name, * FROM counted
  UNION ALL SELECT 'tenant', tenant, * FROM counted WHERE tenant IS NOT NULL
  UNION ALL SELECT 'app', app, * FROM counted WHERE app IS NOT NULL
  UNION ALL SELECT 'route', route, * FROM counted WHERE route IS NOT NULL
  UNION ALL SELECT 'model', model, * FROM counted WHERE model IS NOT NULL
  UNION ALL SELECT 'replica', replica, * FROM counted WHERE replica IS NOT NULL
  UNION ALL SELECT 'prompt', prompt, * FROM counted WHERE prompt IS NOT NULL
),
summed AS (
  SELECT dimension, name, CAST(sum(CASE WHEN inside THEN n ELSE 0 END) AS BIGINT) AS requests, CAST(sum(CASE WHEN inside THEN 0 ELSE n END) AS BIGINT) AS others,
         CAST(sum(CASE WHEN inside THEN bad ELSE 0 END) AS BIGINT) AS bad,
         sum(CASE WHEN inside THEN fresh END) AS fresh, sum(CASE WHEN NOT inside THEN fresh END) AS fresh_base,
         sum(CASE WHEN inside THEN told ELSE 0 END) AS told, sum(CASE WHEN inside THEN 0 ELSE told END) AS told_base,
         sum(CASE WHEN inside THEN cached END) AS cached, sum(CASE WHEN NOT inside THEN cached END) AS cached_base,
         sum(CASE WHEN inside THEN input END) AS input, sum(CASE WHEN NOT inside THEN input END) AS input_base
  FROM by_value
  GROUP BY dimension, name
),
grown AS (
  SELECT *, greatest(coalesce(fresh, 0) / inside_s - coalesce(fresh_base, 0) / outside_s, 0e0) AS growth FROM summed CROSS JOIN span
)
-- added up in order: a sum of fractions depends on it
SELECT dimension, name, requests, bad, others / outside_s AS rate_base, requests / inside_s AS rate,
       CASE WHEN others = 0 THEN 0 ELSE fresh_base / outside_s END AS prefill_base, CASE WHEN requests = 0 THEN 0 ELSE fresh / inside_s END AS prefill,
       fresh_base * 1e0 / nullif(told_base, 0) AS prefill_mean_base, fresh * 1e0 / nullif(told, 0) AS prefill_mean,
       cached_base * 1e0 / nullif(input_base, 0) AS cached_share_base, cached * 1e0 / nullif(input, 0) AS cached_share,
       growth / nullif(sum(growth) OVER (PARTITION BY dimension ORDER BY name ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING), 0) AS share_of_excess
FROM grown
ORDER BY dimension, share_of_excess DESC NULLS LAST, name
