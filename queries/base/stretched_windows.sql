-- about Prefill windows moved back to the step that they cut. A step of the engine is indivisible: when a fitted window begins inside a run of stalled
-- about gaps (over 3 x the baseline and at least run_us above it, less than 2 ms apart), it begins where the run did, but never before the request came
-- about nor at more than stretch x its fitted length (noise of the machine, prompts that share steps). stretch 1 leaves the windows as they are.
-- param stretch DOUBLE 3
-- param run_us BIGINT 20000
-- swept stretched {run_us} {stretch} | paced_streams decode_streams prefill_windows gap_baselines
-- kept the stall queries and their steps read it
WITH
held AS (
  SELECT replica, start_us, end_us,
         max(end_us) OVER (PARTITION BY replica ORDER BY start_us, end_us ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_us
  FROM long_gaps
  WHERE gap_us - baseline_us >= {run_us} AND excess_us >= 0.5e0 * (gap_us - baseline_us)
),
marks AS (
  SELECT replica, start_us AS at_us, 0 AS turn, CASE WHEN start_us > before_us + 2000 THEN start_us WHEN before_us IS NULL THEN start_us END AS run_start_us, end_us AS until_us,
         CAST(NULL AS VARCHAR) AS request_id, CAST(NULL AS INTEGER) AS attempt, CAST(NULL AS BIGINT) AS arrival_us
  FROM held
  UNION ALL SELECT replica, start_us, 1, NULL, NULL, request_id, attempt, arrival_us FROM prefill_windows WHERE source = 'fitted'
),
swept AS (
  SELECT *, max(run_start_us) OVER past AS last_start_us, max(until_us) OVER past AS last_end_us
  FROM marks
  WINDOW past AS (PARTITION BY replica ORDER BY at_us, turn ROWS UNBOUNDED PRECEDING)
),
cut AS (
  SELECT request_id, attempt, arrival_us, last_start_us AS run_start_us FROM swept WHERE turn = 1 AND last_end_us > at_us
)
SELECT w.request_id, w.attempt, tenant, model, replica, w.arrival_us, source, w.start_us AS fitted_us, end_us, tokens, share, leads,
       least(w.start_us, greatest(floor_us, coalesce(run_start_us, w.start_us), end_us - CAST(round({stretch} * (end_us - w.start_us)) AS BIGINT))) AS start_us
FROM prefill_windows AS w
LEFT JOIN cut AS c ON c.request_id = w.request_id AND c.attempt = w.attempt AND c.arrival_us = w.arrival_us
