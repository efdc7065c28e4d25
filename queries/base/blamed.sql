-- about Who held whom, one row a request that was prefilled and a tenant whose streams decoded meanwhile: the microseconds of decode that it cost them.
-- about The 20 tenants that lost most stand alone, the others together as "other tenants". Adds up to the lost time of stall_victims.
-- kept the stall queries and their steps read it
WITH
tenants AS (
  SELECT tenant, sum(lost_us) AS lost_us FROM stall_victims WHERE lost_us > 0 GROUP BY tenant
),
ranked AS (
  SELECT tenant, CASE WHEN row_number() OVER (ORDER BY lost_us DESC, tenant) <= 20 THEN tenant ELSE 'other tenants' END AS victim FROM tenants
),
victims AS (
  SELECT replica, victim, start_us, end_us, by_time, by_token, request_id, attempt
  FROM stall_victims AS v JOIN ranked AS r ON r.tenant = v.tenant
  WHERE lost_us > 0
),
present AS (
  SELECT DISTINCT replica, victim FROM victims
),
origins AS (
  SELECT replica, min(start_us) AS origin_us FROM victims GROUP BY replica
),
-- turn 2: a window as stretched begins, 3: as fitted, 4: it ends
marks AS (
  SELECT replica, victim, start_us AS at_us, 1 AS turn, by_time, by_token, request_id, attempt FROM victims
  UNION ALL SELECT replica, victim, end_us, 0, -by_time, -by_token, request_id, attempt FROM victims
  UNION ALL SELECT w.replica, victim, start_us, 2, 0e0, 0e0, request_id, attempt FROM stretched_windows AS w JOIN present AS p ON p.replica = w.replica
  UNION ALL SELECT w.replica, victim, fitted_us, 3, 0e0, 0e0, request_id, attempt FROM stretched_windows AS w JOIN present AS p ON p.replica = w.replica
  UNION ALL SELECT w.replica, victim, end_us, 4, 0e0, 0e0, request_id, attempt FROM stretched_windows AS w JOIN present AS p ON p.replica = w.replica
),
swept AS (
  SELECT e.*, at_us - origin_us AS x_us, sum(by_time) OVER past AS times, sum(by_time * (at_us - origin_us)) OVER past AS times_at,
         sum(by_token) OVER past AS costs, sum(by_token * (at_us - origin_us)) OVER past AS costs_at
  FROM marks AS e JOIN origins AS o ON o.replica = e.replica
  WINDOW past AS (PARTITION BY e.replica, victim ORDER BY at_us, turn, request_id, attempt ROWS UNBOUNDED PRECEDING)
),
spans AS (
  SELECT request_id, attempt, victim,
         max(CASE WHEN turn = 4 THEN times * x_us - times_at END) - max(CASE WHEN turn = 2 THEN times * x_us - times_at END) AS time_us,
         max(CASE WHEN turn = 4 THEN costs * x_us - costs_at END) - max(CASE WHEN turn = 3 THEN costs * x_us - costs_at END) AS cost_us
  FROM swept
  WHERE turn > 1
  GROUP BY request_id, attempt, victim
)
SELECT w.request_id, w.attempt, w.tenant AS culprit, victim,
       CAST(round(share * time_us + tokens * cost_us / (end_us - fitted_us)) AS BIGINT) AS inflicted_us
FROM spans AS s JOIN stretched_windows AS w ON w.request_id = s.request_id AND w.attempt = s.attempt
WHERE round(share * time_us + tokens * cost_us / (end_us - fitted_us)) > 0
