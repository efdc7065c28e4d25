-- about Chunk gaps with what is known of their cause (metrics.md 4.2, 4.3), one row a gap. covered_us is the part in which the replica prefilled other
-- about requests (once, however many; looked up where there is an excess), overlap_us the same added up over windows, overlap_tokens the tokens
-- about prefilled meanwhile. lost_us = the smaller of excess and covered, NULL where the replica has no windows. A stalled gap (over 3 x the baseline,
-- about 100 ms above it) has a label.
-- kept the stall queries and their steps read it
WITH
windows AS (
  SELECT replica, start_us, end_us, CASE WHEN leads THEN 1 ELSE 0 END AS one, tokens / (end_us - start_us) AS rate,
         start_us - min(start_us) OVER (PARTITION BY replica) AS x0_us, end_us - min(start_us) OVER (PARTITION BY replica) AS x1_us,
         greatest(0, end_us - greatest(start_us, coalesce(max(end_us) OVER (PARTITION BY replica ORDER BY start_us, end_us, request_id, attempt
                                                                           ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), start_us))) AS fresh_us
  FROM stretched_windows
),
edges AS (
  SELECT replica, start_us AS at_us, end_us AS until_us, fresh_us, one AS change, one * x0_us AS change_at, rate, rate * x0_us AS rate_at FROM windows
  UNION ALL SELECT replica, end_us, NULL, 0, -one, -one * x1_us, -rate, -rate * x1_us FROM windows
),
steps AS (
  SELECT replica, at_us, max(until_us) AS until_us, sum(fresh_us) AS fresh_us, sum(change) AS change, sum(change_at) AS change_at,
         sum(rate ORDER BY rate) AS rate, sum(rate_at ORDER BY rate_at) AS rate_at
  FROM edges
  GROUP BY replica, at_us
),
-- sums of past edges give the integrals up to x: sum(change) x - sum(change at), with x counted from the replica's first window
levels AS (
  SELECT replica, at_us, min(at_us) OVER (PARTITION BY replica) AS origin_us, max(until_us) OVER past AS until_us,
         CAST(sum(fresh_us) OVER past AS BIGINT) AS fresh_us, CAST(sum(change) OVER past AS BIGINT) AS active,
         CAST(sum(change_at) OVER past AS BIGINT) AS active_at, sum(rate) OVER past AS rates, sum(rate_at) OVER past AS rates_at
  FROM steps
  WINDOW past AS (PARTITION BY replica ORDER BY at_us ROWS UNBOUNDED PRECEDING)
),
-- windows lie where somebody waits, so other gaps, and those without excess, lose nothing; before the first window nothing is covered
looked AS (
  {looked}
),
explained AS (
  SELECT g.*, coalesce(covered_us, 0) AS covered_us, coalesce(overlap_us, 0) AS overlap_us, coalesce(overlap_tokens, 0) AS overlap_tokens,
         CASE WHEN g.replica IN (SELECT replica FROM windows) THEN least(excess_us, coalesce(covered_us, 0)) END AS lost_us,
         gap_us > 3 * baseline_us AND gap_us - baseline_us >= 100000 AS stalled
  FROM paced_gaps AS g LEFT JOIN looked AS l ON l.request_id = g.request_id AND l.attempt = g.attempt AND l.k = g.k
),
-- who else stood still in the middle of each stalled gap
stalls AS (
  SELECT replica, request_id, attempt, k, start_us, start_us + CAST(floor(gap_us / 2e0) AS BIGINT) AS mid_us, end_us FROM explained WHERE stalled
),
decoding AS (
  SELECT replica, arrival_us + ttft_us AS start_us, arrival_us + coalesce(last_us, end_us) AS end_us
  FROM requests
  WHERE replica IS NOT NULL AND coalesce(last_us, end_us) > ttft_us AND arrival_us IS NOT NULL
),
company AS (
  SELECT replica, at_us, sum(held) AS held, sum(decoders) AS decoders
  FROM (
    SELECT replica, start_us AS at_us, 1 AS held, 0 AS decoders FROM stalls
    UNION ALL SELECT replica, end_us, -1, 0 FROM stalls
    UNION ALL SELECT replica, start_us, 0, 1 FROM decoding
    UNION ALL SELECT replica, end_us, 0, -1 FROM decoding
  )
  GROUP BY replica, at_us
),
crowd AS (
  SELECT replica, at_us, sum(held) OVER past AS held, sum(decoders) OVER past AS decoders
  FROM company
  WINDOW past AS (PARTITION BY replica ORDER BY at_us ROWS UNBOUNDED PRECEDING)
),
seen AS (
  {seen}
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
FROM explained AS e LEFT JOIN seen AS c ON c.request_id = e.request_id AND c.attempt = e.attempt AND c.k = e.k
