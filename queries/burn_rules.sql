-- title Burn rate rules
-- about What each rule of the query burn_rate saw: the hours it could judge (from the time that the log is as long as its long window), the highest burn of
-- about that window and how often and how long it fired. A rule whose long window is longer than the log is skipped: hours_judged 0, nothing else known.
-- level L0
-- key grp
-- key rule
-- column threshold ratio none
-- column long_h h none
-- column log_h h none
-- column hours_judged h none
-- column peak_burn ratio lower
-- column peak_us time none
-- column alerts alerts lower
-- column hours_firing h lower
WITH
marked AS (
  SELECT *, coalesce(long_burn > threshold AND short_burn > threshold AND short_bad >= 10, FALSE) AS firing,
         max(long_burn) OVER (PARTITION BY grp, rule) AS peak_burn,
         coalesce(lead(at_us) OVER (PARTITION BY grp, rule ORDER BY at_us), last_us) AS next_us
  FROM burn_states
),
followed AS (
  SELECT *, lag(firing) OVER (PARTITION BY grp, rule ORDER BY at_us) AS fired FROM marked
)
SELECT grp, rule, threshold, long_us / 36e8 AS long_h, (last_us - first_us) / 36e8 AS log_h, greatest(last_us - from_us, 0) / 36e8 AS hours_judged,
       max(long_burn) AS peak_burn, min(CASE WHEN long_burn = peak_burn THEN at_us END) AS peak_us,
       CASE WHEN from_us <= last_us THEN count(CASE WHEN firing AND fired IS NOT TRUE THEN 1 END) END AS alerts,
       CASE WHEN from_us <= last_us THEN coalesce(sum(CASE WHEN firing THEN next_us - at_us END), 0) / 36e8 END AS hours_firing
FROM followed
GROUP BY grp, rule, threshold, long_us, first_us, last_us, from_us
ORDER BY grp, long_h
