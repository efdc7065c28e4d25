-- about What the chunk gaps of each victim lost while each of stretched_windows lasted, one row a window and victim: a gap's lost time is spread evenly over the
-- about time in which windows overlap it, added up over windows.
-- swept blame | paced_streams decode_streams prefill_windows gap_baselines stretched_windows victims
WITH
hit AS (
  SELECT replica, victim, start_us, end_us, lost_us * 1e0 / overlap_us AS by_time, request_id, attempt, arrival_us
  FROM lost_gaps AS g JOIN victims AS v ON v.tenant = g.tenant
  WHERE lost_us > 0
),
present AS (
  SELECT DISTINCT replica, victim FROM hit
),
origins AS (
  SELECT replica, min(start_us) AS origin_us FROM hit GROUP BY replica
),
-- turn 2: a window begins, 4: it ends
marks AS (
  SELECT replica, victim, start_us AS at_us, 1 AS turn, by_time, request_id, attempt, arrival_us FROM hit
  UNION ALL SELECT replica, victim, end_us, 0, -by_time, request_id, attempt, arrival_us FROM hit
  UNION ALL SELECT w.replica, victim, start_us, 2, 0e0, request_id, attempt, arrival_us FROM stretched_windows AS w JOIN present AS p ON p.replica = w.replica
  UNION ALL SELECT w.replica, victim, end_us, 4, 0e0, request_id, attempt, arrival_us FROM stretched_windows AS w JOIN present AS p ON p.replica = w.replica
),
swept AS (
  SELECT e.*, at_us - origin_us AS x_us, sum(by_time) OVER past AS times, sum(by_time * (at_us - origin_us)) OVER past AS times_at
  FROM marks AS e JOIN origins AS o ON o.replica = e.replica
  WINDOW past AS (PARTITION BY e.replica, victim ORDER BY at_us, turn, request_id, attempt ROWS UNBOUNDED PRECEDING)
)
-- what is left of rounding is nothing
SELECT request_id, attempt, arrival_us, victim, time_us
FROM (
  SELECT request_id, attempt, arrival_us, victim,
         max(CASE WHEN turn = 4 THEN times * x_us - times_at END) - max(CASE WHEN turn = 2 THEN times * x_us - times_at END) AS time_us
  FROM swept
  WHERE turn > 1
  GROUP BY request_id, attempt, arrival_us, victim
)
WHERE time_us > 1e-3
