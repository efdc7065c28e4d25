-- title Who was hit
-- about Bad calls inside the window by each value of each dimension. expected: as many as the value's own share of bad calls outside the window would give
-- about (of the whole outside where it had none there). excess = bad - expected; share_of_excess: of the sum of the excesses above 0 of its dimension.
-- about lift: its share of bad calls inside over that of the other values of the dimension; one value far above 1 that holds nearly all the excess is
-- about where to look.
-- level L0
-- param window_from_us BIGINT 0
-- param window_to_us BIGINT 0
-- key dimension
-- key name
-- column judged requests none
-- column bad requests lower
-- column bad_share share lower
-- column judged_base requests none
-- column bad_base requests lower
-- column bad_share_base share lower
-- column expected requests none
-- column excess requests lower
-- column share_of_excess share none
-- column lift ratio none
WITH
marked AS (
  SELECT arrival_us >= window_from_us AND arrival_us < window_to_us AS inside, tenant, app, route, model, deployment, replica, system_hash,
         CASE WHEN input_tokens < 256 THEN 'under 256 tokens' WHEN input_tokens < 1024 THEN '256 to 1023 tokens'
              WHEN input_tokens < 4096 THEN '1024 to 4095 tokens' WHEN input_tokens IS NOT NULL THEN '4096 tokens and more' END AS prompt,
         CASE verdict WHEN 'bad' THEN 1 WHEN 'good' THEN 0 END AS is_bad
  FROM calls CROSS JOIN params
  WHERE arrival_us IS NOT NULL
),
-- calls that are alike in all of it are counted once, so that no row a call is kept
counted AS (
  SELECT inside, tenant, app, route, model, deployment, replica, system_hash, prompt, count(is_bad) AS n, sum(is_bad) AS bad
  FROM marked
  GROUP BY inside, tenant, app, route, model, deployment, replica, system_hash, prompt
  HAVING count(is_bad) > 0
),
by_value AS (
  SELECT 'all' AS dimension, 'all' AS name, inside, n, bad FROM counted
  UNION ALL SELECT 'tenant', tenant, inside, n, bad FROM counted WHERE tenant IS NOT NULL
  UNION ALL SELECT 'app', app, inside, n, bad FROM counted WHERE app IS NOT NULL
  UNION ALL SELECT 'route', route, inside, n, bad FROM counted WHERE route IS NOT NULL
  UNION ALL SELECT 'model', model, inside, n, bad FROM counted WHERE model IS NOT NULL
  UNION ALL SELECT 'deployment', deployment, inside, n, bad FROM counted WHERE deployment IS NOT NULL
  UNION ALL SELECT 'replica', replica, inside, n, bad FROM counted WHERE replica IS NOT NULL
  UNION ALL SELECT 'system prompt', system_hash, inside, n, bad FROM counted WHERE system_hash IS NOT NULL
  UNION ALL SELECT 'prompt', prompt, inside, n, bad FROM counted WHERE prompt IS NOT NULL
),
summed AS (
  SELECT dimension, name, CAST(sum(CASE WHEN inside THEN n ELSE 0 END) AS BIGINT) AS judged, CAST(sum(CASE WHEN inside THEN bad ELSE 0 END) AS BIGINT) AS bad,
         CAST(sum(CASE WHEN inside THEN 0 ELSE n END) AS BIGINT) AS judged_base, CAST(sum(CASE WHEN inside THEN 0 ELSE bad END) AS BIGINT) AS bad_base
  FROM by_value
  GROUP BY dimension, name
),
totals AS (
  SELECT *, sum(judged) OVER (PARTITION BY dimension) AS all_judged, sum(bad) OVER (PARTITION BY dimension) AS all_bad,
         sum(judged_base) OVER (PARTITION BY dimension) AS all_judged_base, sum(bad_base) OVER (PARTITION BY dimension) AS all_bad_base
  FROM summed
),
expected AS (
  SELECT *, judged * coalesce(bad_base * 1e0 / nullif(judged_base, 0), all_bad_base * 1e0 / nullif(all_judged_base, 0), 0) AS expected FROM totals
)
-- added up in order: a sum of fractions depends on it
SELECT dimension, name, judged, bad, bad * 1e0 / nullif(judged, 0) AS bad_share, judged_base, bad_base,
       bad_base * 1e0 / nullif(judged_base, 0) AS bad_share_base, expected, bad - expected AS excess,
       greatest(bad - expected, 0) / nullif(sum(greatest(bad - expected, 0)) OVER (PARTITION BY dimension ORDER BY name ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING), 0) AS share_of_excess,
       bad * 1e0 / nullif(judged, 0) / nullif((all_bad - bad) * 1e0 / nullif(all_judged - judged, 0), 0) AS lift
FROM expected
WHERE judged > 0
ORDER BY dimension, excess DESC, name
