-- title Goodput by other tools' rules
-- about The same calls under the same SLO as three tools count them (metrics.md 1.2). ours: failures are bad, a term without a measure that does not apply passes.
-- about vllm (bench serve): over calls that ended well and can be judged, failures are left out; one token counts as a pace of 0. aiperf: over calls that
-- about ended well, and one that lacks the measure of a term is bad, so that an answer of one token or one given whole misses a tpot term.
-- level L0
-- key grp
-- key rule
-- column n requests none
-- column good requests higher
-- column share share higher
-- column goodput_per_s requests/s higher
WITH
ruled AS (
  SELECT grp, 1 AS place, 'ours' AS rule, verdict IN ('good', 'bad') AS counts, verdict = 'good' AS is_good, n FROM judged_sets
  UNION ALL
  SELECT grp, 2, 'vllm', missed >= 0 AND verdict IN ('good', 'bad'), verdict = 'good', n FROM judged_sets
  UNION ALL
  SELECT grp, 3, 'aiperf', missed >= 0, measured_good, n FROM judged_sets
),
counted AS (
  SELECT grp, place, rule, CAST(sum(CASE WHEN counts THEN n ELSE 0 END) AS BIGINT) AS n,
         CAST(sum(CASE WHEN counts AND is_good THEN n ELSE 0 END) AS BIGINT) AS good
  FROM ruled
  GROUP BY grp, place, rule
)
SELECT grp, rule, n, good, good * 1e0 / nullif(n, 0) AS share, CASE WHEN n > 0 THEN good / seconds END AS goodput_per_s
FROM counted CROSS JOIN covered
ORDER BY grp, place
