-- about Stalled gaps (over 3 x the usual length and 100 ms above it) with what lost_gaps says of them and the first label that fits (metrics.md 4.3).
-- kept the stall queries and their steps read it
WITH
explained AS (
  SELECT *,
         CASE WHEN replica IN (SELECT replica FROM stretched_windows) THEN least(excess_us, covered_us) END AS lost_us, TRUE AS stalled,
         held * 1e0 / nullif(decoders, 0) AS coverage
  FROM stood_gaps
)
SELECT *,
       CASE WHEN excess_us < 0.5e0 * (gap_us - baseline_us) THEN 'delivery'
            WHEN lost_us IS NULL THEN 'not attributed'
            WHEN lost_us >= 0.5e0 * excess_us THEN 'prefill'
            WHEN coverage >= 0.8e0 AND waited_us >= 0.5e0 * gap_us THEN 'blocked_ambiguous'
            WHEN coverage >= 0.8e0 AND decoders >= 3 THEN 'pause'
            WHEN coverage < 0.5e0 THEN 'local'
            WHEN gap_us - after_us < 0.5e0 * excess_us THEN 'batch_growth'
            ELSE 'unexplained' END AS label
FROM explained
