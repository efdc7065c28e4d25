-- title Burn rate rules
-- about What each rule of the query burn_rate saw: the hours it could judge (from the time that the log is as long as its long window), the highest burn of
-- about that window and how often and how long it fired. A rule whose long window is longer than the log is skipped: hours_judged 0, nothing else known.
-- about With since_us only what was seen from then on counts.
-- level L0
-- metric burn rules | - | a rule fires when its long and its short window exceed 14.4 (1 h/5 min), 6 (6 h/30 min) or 1 (3 d/6 h) and the short one holds 10 bad calls; windows longer than the log are skipped
-- param since_us BIGINT 0
-- key grp
-- key rule
-- column threshold ratio none
-- column long_h h none
-- column log_h h none
-- column hours_judged h none
-- column peak_burn ratio lower
-- column alerts alerts lower
-- column hours_firing h lower
WITH
marked AS (
  SELECT grp, rule, at_us, long_us, threshold, first_us, last_us, from_us, long_burn,
         coalesce(long_burn > threshold AND short_burn > threshold AND short_bad >= 10, FALSE) AS firing,
         coalesce(lead(at_us) OVER (PARTITION BY grp, rule ORDER BY at_us), last_us) AS next_us
  FROM burn_states
),
-- states that last beyond since_us
seen AS (
  SELECT *, lag(firing) OVER (PARTITION BY grp, rule ORDER BY at_us) AS fired
  FROM marked CROSS JOIN params
  WHERE next_us > since_us OR at_us = last_us
),
summed AS (
  SELECT grp, rule, threshold, long_us, first_us, last_us, from_us, since_us, max(long_burn) AS peak_burn,
         count(CASE WHEN firing AND fired IS NOT TRUE THEN 1 END) AS alerts,
         coalesce(sum(CASE WHEN firing THEN next_us - greatest(at_us, since_us) END), 0) AS firing_us
  FROM seen
  GROUP BY grp, rule, threshold, long_us, first_us, last_us, from_us, since_us
)
SELECT grp, rule, threshold, long_us / 36e8 AS long_h, (last_us - first_us) / 36e8 AS log_h, greatest(last_us - greatest(from_us, since_us), 0) / 36e8 AS hours_judged,
       peak_burn, CASE WHEN from_us <= last_us THEN alerts END AS alerts, CASE WHEN from_us <= last_us THEN firing_us END / 36e8 AS hours_firing
FROM summed
ORDER BY grp, long_h
