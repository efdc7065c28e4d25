-- about paced_gaps with the part lost to others' prefills (metrics.md 4.3), one row a gap. covered_us is the part in which the replica prefilled other
-- about requests (once, however many; looked up where there is an excess), overlap_us the same added up over windows, overlap_tokens the tokens
-- about prefilled meanwhile. lost_us = the smaller of excess and covered, NULL where the replica has no windows.
WITH
-- windows lie where somebody waits, so other gaps, and those without excess, lose nothing; before the first window nothing is covered
tried AS (
  SELECT replica, request_id, attempt, arrival_us, k, start_us, end_us FROM paced_gaps WHERE excess_us > 0 AND waited_us > 0
),
looked AS (
  {looked}
)
SELECT g.*, coalesce(covered_us, 0) AS covered_us, coalesce(overlap_us, 0) AS overlap_us, coalesce(overlap_tokens, 0) AS overlap_tokens,
       CASE WHEN g.replica IN (SELECT replica FROM stretched_windows) THEN least(excess_us, coalesce(covered_us, 0)) END AS lost_us,
       gap_us > 3 * baseline_us AND gap_us - baseline_us >= 100000 AS stalled
FROM paced_gaps AS g LEFT JOIN looked AS l ON l.request_id = g.request_id AND l.attempt = g.attempt AND l.arrival_us = g.arrival_us AND l.k = g.k
