-- title Stalled gaps by cause
-- about Chunk gaps over 3 x the usual one and 100 ms above it, by the first label that fits (metrics.md 4.3): delivery, the tokens were made in time and
-- about came late in one chunk; prefill, half of the excess lies in other requests' prefills; blocked_ambiguous, at least 80 % of the replica's streams
-- about stood still while a request waited for its first token; pause, the same with nobody waiting and 3 or more streams; local, under half of the
-- about streams stood still; batch_growth, usual for the number of streams after it; unexplained. Not attributed: the cost of a prefill is not known.
-- level L3
-- key grp
-- key label
-- column stalled gaps lower
-- column excess_s s lower
-- column excess_share share none
-- column lost_s s lower
WITH
summed AS (
  SELECT grp, label, count(*) AS stalled, sum(excess_us) AS excess_us, sum(lost_us) AS lost_us
  FROM stalled_gaps
  GROUP BY grp, label
),
shared AS (
  SELECT *, sum(excess_us) OVER (PARTITION BY grp) AS all_us FROM summed
)
SELECT grp, label, stalled, excess_us / 1e6 AS excess_s, CASE WHEN all_us > 0 THEN excess_us * 1e0 / all_us END AS excess_share, lost_us / 1e6 AS lost_s
FROM shared
ORDER BY grp, excess_us DESC, label
