-- about Who held whom, one row a request that was prefilled and a tenant whose streams decoded meanwhile: the microseconds of decode that it cost them.
-- about Of chunk gaps the share of its window, of streams with ends alone what its tokens cost while the window as fitted lasted. Adds up to the lost time of stall_victims.
-- kept the stall queries and their steps read it
WITH
hit AS (
  SELECT replica, victim, start_us, end_us, lost_us / other_tokens AS by_token, request_id, attempt, arrival_us
  FROM ended_streams AS s JOIN victims AS v ON v.tenant = s.tenant
  WHERE lost_us > 0
),
present AS (
  SELECT DISTINCT replica, victim FROM hit
),
origins AS (
  SELECT replica, min(start_us) AS origin_us FROM hit GROUP BY replica
),
-- turn 3: a window as fitted begins, 4: it ends
marks AS (
  SELECT replica, victim, start_us AS at_us, 1 AS turn, by_token, request_id, attempt, arrival_us FROM hit
  UNION ALL SELECT replica, victim, end_us, 0, -by_token, request_id, attempt, arrival_us FROM hit
  UNION ALL SELECT w.replica, victim, fitted_us, 3, 0e0, request_id, attempt, arrival_us FROM stretched_windows AS w JOIN present AS p ON p.replica = w.replica
  UNION ALL SELECT w.replica, victim, end_us, 4, 0e0, request_id, attempt, arrival_us FROM stretched_windows AS w JOIN present AS p ON p.replica = w.replica
),
swept AS (
  SELECT e.*, at_us - origin_us AS x_us, sum(by_token) OVER past AS costs, sum(by_token * (at_us - origin_us)) OVER past AS costs_at
  FROM marks AS e JOIN origins AS o ON o.replica = e.replica
  WINDOW past AS (PARTITION BY e.replica, victim ORDER BY at_us, turn, request_id, attempt ROWS UNBOUNDED PRECEDING)
),
spans AS (
  SELECT request_id, attempt, arrival_us, victim, time_us, 0e0 AS cost_us FROM chunk_blame
  UNION ALL
  SELECT request_id, attempt, arrival_us, victim, 0e0, max(CASE WHEN turn = 4 THEN costs * x_us - costs_at END) - max(CASE WHEN turn = 3 THEN costs * x_us - costs_at END)
  FROM swept
  WHERE turn > 1
  GROUP BY request_id, attempt, arrival_us, victim
),
summed AS (
  SELECT request_id, attempt, arrival_us, victim, sum(time_us) AS time_us, sum(cost_us) AS cost_us FROM spans GROUP BY request_id, attempt, arrival_us, victim
)
SELECT w.request_id, w.attempt, w.arrival_us, w.tenant AS culprit, victim,
       CAST(round(share * time_us + tokens * cost_us / (end_us - fitted_us)) AS BIGINT) AS inflicted_us
FROM summed AS s JOIN stretched_windows AS w ON w.request_id = s.request_id AND w.attempt = s.attempt AND w.arrival_us = s.arrival_us
WHERE round(share * time_us + tokens * cost_us / (end_us - fitted_us)) > 0
