-- title Attainment by week, for each value of each dimension
-- about Judged calls by ISO week (UTC) of arrival, and the bad ones. A call counts once in each dimension that the log knows of it.
-- level L0
-- key dimension
-- key name
-- key week_us time
-- column n requests none
-- column bad requests lower
-- column attainment share higher
WITH
-- 1970-01-05 was a Monday
placed AS (
  SELECT arrival_us - mod(mod(arrival_us - 345600000000, 604800000000) + 604800000000, 604800000000) AS week_us, tenant, model, app, route, replica,
         CASE verdict WHEN 'bad' THEN 1 WHEN 'good' THEN 0 END AS bad -- a verdict in WHERE would be worked out twice
  FROM calls
  WHERE generation AND NOT cached_response AND arrival_us IS NOT NULL
),
counted AS (
  SELECT week_us, tenant, model, app, route, replica, count(bad) AS n, sum(bad) AS bad
  FROM placed
  GROUP BY week_us, tenant, model, app, route, replica
  HAVING count(bad) > 0
),
by_value AS (
  SELECT 'tenant' AS dimension, tenant AS name, week_us, n, bad FROM counted
  UNION ALL SELECT 'model', model, week_us, n, bad FROM counted
  UNION ALL SELECT 'app', app, week_us, n, bad FROM counted
  UNION ALL SELECT 'route', route, week_us, n, bad FROM counted
  UNION ALL SELECT 'replica', replica, week_us, n, bad FROM counted
)
SELECT dimension, name, week_us, CAST(sum(n) AS BIGINT) AS n, CAST(sum(bad) AS BIGINT) AS bad, 1 - sum(bad) * 1e0 / sum(n) AS attainment
FROM by_value
WHERE name IS NOT NULL
GROUP BY dimension, name, week_us
ORDER BY dimension, name, week_us
