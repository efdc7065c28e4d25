-- about Stalled gaps of long_gaps (100 ms above the usual length) and what was going on, one row a gap: covered_us, overlap_us and overlap_tokens as in lost_gaps; held and
-- about decoders, how many streams of the replica stalled and decoded in its middle.
-- swept stood | paced_streams decode_streams prefill_windows gap_baselines stretched_windows
WITH
stalls AS (
  SELECT *, start_us + CAST(floor(gap_us / 2e0) AS BIGINT) AS mid_us FROM long_gaps WHERE gap_us - baseline_us >= 100000
),
-- windows lie where somebody waits, so other gaps, and those without excess, lose nothing; before the first window nothing is covered
tried AS (
  SELECT replica, request_id, attempt, arrival_us, k, start_us, end_us FROM stalls WHERE excess_us > 0 AND waited_us > 0
),
looked AS (
  {looked}
),
-- who else stood still in the middle of each stalled gap
company AS (
  SELECT replica, at_us, sum(held) AS held, sum(decoders) AS decoders
  FROM (
    SELECT replica, start_us AS at_us, 1 AS held, 0 AS decoders FROM stalls
    UNION ALL SELECT replica, end_us, -1, 0 FROM stalls
    UNION ALL SELECT replica, start_us, 0, 1 FROM decode_streams
    UNION ALL SELECT replica, end_us, 0, -1 FROM decode_streams
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
SELECT g.replica, g.request_id, g.attempt, g.arrival_us, grp, tenant, g.k, g.start_us, g.end_us, gap_us, streams, batch, clean, waited_us, baseline_us, after_us, excess_us,
       coalesce(covered_us, 0) AS covered_us, coalesce(overlap_us, 0) AS overlap_us, coalesce(overlap_tokens, 0e0) AS overlap_tokens, held, decoders
FROM stalls AS g
LEFT JOIN looked AS l ON l.request_id = g.request_id AND l.attempt = g.attempt AND l.arrival_us = g.arrival_us AND l.k = g.k
LEFT JOIN seen AS c ON c.request_id = g.request_id AND c.attempt = g.attempt AND c.arrival_us = g.arrival_us AND c.k = g.k
