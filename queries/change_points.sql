-- title Level changes
-- about When the median of ttft, tpot or e2e changed its level: the series of medians of steps of bin_us with min_n calls or more is split where the energy
-- about statistic of its logarithms is largest, as long as at most 1 % of 199 permutations reach it (E-divisive, metrics.md 2.5). Each level has 3 steps or more.
-- about before, after: median of the steps' medians since the change before and up to the next. No SLO is needed. A daily rhythm changes levels too.
-- level L0
-- metric level change | - | a split of the series of medians by the energy statistic that at most 1 % of permutations reach
-- param bin_us BIGINT
-- param min_n BIGINT 20
-- key metric
-- key grp
-- key at_us time
-- column before_ms ms lower
-- column after_ms ms lower
-- column ratio x lower
-- column steps_before steps none
-- column steps_after steps none
-- column p share none
WITH
found AS (
  SELECT * FROM level_changes
)
SELECT metric, grp, at_us, before_ms, after_ms, CASE WHEN before_ms > 0 THEN after_ms / before_ms END AS ratio, steps_before, steps_after, p
FROM found
ORDER BY grp, metric, at_us
