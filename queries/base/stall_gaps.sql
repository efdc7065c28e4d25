-- about Chunk gaps with what is known of their cause (metrics.md 4.2, 4.3), one row a gap. covered_us is the part in which the replica prefilled other
-- about requests (once, however many), overlap_us the same added up over windows, overlap_tokens the tokens prefilled meanwhile. lost_us = the smaller
-- about of excess and covered, NULL where the replica has no windows. A stalled gap (over 3 x the baseline, 100 ms above it) has a label.
-- once the steps of the stall queries read it
WITH
windows AS (
  SELECT *, tokens / (end_us - start_us) AS rate,
         greatest(0, end_us - greatest(start_us, coalesce(max(end_us) OVER (PARTITION BY replica ORDER BY start_us, end_us, request_id, attempt
                                                                           ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), start_us))) AS fresh_us,
         CASE WHEN leads THEN 1 ELSE 0 END AS one
  FROM stretched_windows
),
origins AS (
  SELECT replica, least(min(start_us), min(end_us)) AS origin_us, bool_or(priced) AS priced
  FROM (SELECT replica, start_us, end_us, TRUE AS priced FROM windows UNION ALL SELECT replica, start_us, end_us, FALSE FROM paced_gaps)
  GROUP BY replica
),
marks AS (
  SELECT replica, start_us AS at_us, 1 AS turn, fresh_us, end_us AS until_us, one AS change, rate,
         CAST(NULL AS VARCHAR) AS request_id, CAST(NULL AS INTEGER) AS attempt, CAST(NULL AS BIGINT) AS k
  FROM windows
  UNION ALL SELECT replica, end_us, 0, 0, NULL, -one, -rate, NULL, NULL, NULL FROM windows
  UNION ALL SELECT replica, end_us, 2, 0, NULL, 0, 0e0, request_id, attempt, k FROM paced_gaps
  UNION ALL SELECT replica, start_us, 2, 0, NULL, 0, 0e0, request_id, attempt, 1 FROM paced_gaps WHERE k = 2
),
-- sums of past edges give each integral up to a time x: sum(change) x - sum(change at)
swept AS (
  SELECT e.*, priced, at_us - origin_us AS x_us,
         sum(fresh_us) OVER past - greatest(0, coalesce(max(until_us) OVER past - at_us, 0)) AS covered_us,
         sum(change) OVER past AS active, sum(change * (at_us - origin_us)) OVER past AS active_at,
         sum(rate) OVER past AS rates, sum(rate * (at_us - origin_us)) OVER past AS rates_at
  FROM marks AS e JOIN origins AS o ON o.replica = e.replica
  WINDOW past AS (PARTITION BY e.replica ORDER BY at_us, turn, until_us, e.request_id, attempt, k ROWS UNBOUNDED PRECEDING)
),
summed AS (
  SELECT request_id, attempt, k, priced, covered_us, active * x_us - active_at AS overlap_us, rates * x_us - rates_at AS tokens
  FROM swept
  WHERE turn = 2
),
stepped AS (
  SELECT request_id, attempt, k, priced, CAST(covered_us - lag(covered_us) OVER chunks AS BIGINT) AS covered_us,
         CAST(overlap_us - lag(overlap_us) OVER chunks AS BIGINT) AS overlap_us, tokens - lag(tokens) OVER chunks AS overlap_tokens
  FROM summed
  WINDOW chunks AS (PARTITION BY request_id, attempt ORDER BY k)
),
explained AS (
  SELECT g.*, covered_us, overlap_us, overlap_tokens, CASE WHEN priced THEN least(excess_us, covered_us) END AS lost_us,
         gap_us > 3 * baseline_us AND gap_us - baseline_us >= 100000 AS stalled
  FROM paced_gaps AS g JOIN stepped AS s ON s.request_id = g.request_id AND s.attempt = g.attempt AND s.k = g.k
),
-- what else was going on at the start, in the middle and at the end of each stalled gap
stalls AS (
  SELECT replica, request_id, attempt, k, start_us, end_us FROM explained WHERE stalled
),
waits AS (
  SELECT replica, arrival_us, end_us,
         greatest(0, end_us - greatest(arrival_us, coalesce(max(end_us) OVER (PARTITION BY replica ORDER BY arrival_us, end_us, request_id, attempt
                                                                             ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), arrival_us))) AS fresh_us
  FROM windows
),
decoding AS (
  SELECT replica, arrival_us + ttft_us AS start_us, arrival_us + coalesce(last_us, end_us) AS end_us
  FROM requests
  WHERE replica IS NOT NULL AND coalesce(last_us, end_us) > ttft_us AND arrival_us IS NOT NULL
),
around AS (
  SELECT replica, arrival_us AS at_us, 1 AS turn, fresh_us, end_us AS until_us, 0 AS stalls, 0 AS decoders,
         CAST(NULL AS VARCHAR) AS request_id, CAST(NULL AS INTEGER) AS attempt, CAST(NULL AS BIGINT) AS k
  FROM waits
  UNION ALL SELECT replica, start_us, 1, 0, NULL, 1, 0, NULL, NULL, NULL FROM stalls
  UNION ALL SELECT replica, end_us, 0, 0, NULL, -1, 0, NULL, NULL, NULL FROM stalls
  UNION ALL SELECT replica, start_us, 1, 0, NULL, 0, 1, NULL, NULL, NULL FROM decoding
  UNION ALL SELECT replica, end_us, 0, 0, NULL, 0, -1, NULL, NULL, NULL FROM decoding
  UNION ALL SELECT replica, start_us, 2, 0, NULL, 0, 0, request_id, attempt, k FROM stalls
  UNION ALL SELECT replica, start_us + CAST(floor((end_us - start_us) / 2e0) AS BIGINT), 3, 0, NULL, 0, 0, request_id, attempt, k FROM stalls
  UNION ALL SELECT replica, end_us, 4, 0, NULL, 0, 0, request_id, attempt, k FROM stalls
),
looked AS (
  SELECT request_id, attempt, k, turn,
         sum(fresh_us) OVER past - greatest(0, coalesce(max(until_us) OVER past - at_us, 0)) AS waited_us,
         sum(stalls) OVER past AS held, sum(decoders) OVER past AS decoders
  FROM around
  WINDOW past AS (PARTITION BY replica ORDER BY at_us, CASE WHEN turn > 1 THEN 2 ELSE turn END ROWS UNBOUNDED PRECEDING)
),
company AS (
  SELECT request_id, attempt, k, max(CASE WHEN turn = 3 THEN held * 1e0 / decoders END) AS coverage, max(CASE WHEN turn = 3 THEN decoders END) AS decoders,
         max(CASE WHEN turn = 4 THEN waited_us END) - max(CASE WHEN turn = 2 THEN waited_us END) AS waited_us
  FROM looked
  WHERE turn > 1
  GROUP BY request_id, attempt, k
)
SELECT e.*, coverage,
       CASE WHEN NOT stalled THEN NULL
            WHEN excess_us < 0.5e0 * (gap_us - baseline_us) THEN 'delivery'
            WHEN lost_us IS NULL THEN 'not attributed'
            WHEN lost_us >= 0.5e0 * excess_us THEN 'prefill'
            WHEN coverage >= 0.8e0 AND waited_us >= 0.5e0 * gap_us THEN 'blocked_ambiguous'
            WHEN coverage >= 0.8e0 AND decoders >= 3 THEN 'pause'
            WHEN coverage < 0.5e0 THEN 'local'
            WHEN gap_us - after_us < 0.5e0 * excess_us THEN 'batch_growth'
            ELSE 'unexplained' END AS label
FROM explained AS e LEFT JOIN company AS c ON c.request_id = e.request_id AND c.attempt = e.attempt AND c.k = e.k
