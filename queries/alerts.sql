-- title Burn rate alerts that would have fired
-- about Stretches of time in which a rule of the query burn_rate fired: from the end of the minute at which both windows first exceeded the threshold, to the
-- about one at which one no longer did (open: the end of the log). Counts are over the calls from the start of the first long window to the end of the alert;
-- about budget_used is their burn x that time / period_days: the part of the whole period's error budget that went.
-- about Alerts of one rule that are at most bridge_windows of its short window apart count as one; fired: how many they were.
-- level L0
-- param period_days DOUBLE 30
-- param bridge_windows DOUBLE 0
-- key grp
-- key rule
-- key start_us time
-- column end_us time none
-- column open text none
-- column fired alerts lower
-- column threshold ratio none
-- column peak_burn ratio lower
-- column peak_short_burn ratio lower
-- column since_us time none
-- column n requests none
-- column bad requests lower
-- column budget_used share lower
WITH
judged_states AS (
  SELECT grp, rule, at_us, long_us, short_us, last_us, threshold, budget_share, long_n, long_bad, sum_n, sum_bad, long_burn, short_burn, short_bad,
         lead(at_us) OVER (PARTITION BY grp, rule ORDER BY at_us) AS next_us,
         lead(sum_n) OVER (PARTITION BY grp, rule ORDER BY at_us) AS next_n, lead(sum_bad) OVER (PARTITION BY grp, rule ORDER BY at_us) AS next_bad
  FROM burn_states
),
firing AS (
  SELECT *, lag(next_us) OVER (PARTITION BY grp, rule ORDER BY at_us) AS before_us
  FROM judged_states
  WHERE long_burn > threshold AND short_burn > threshold AND short_bad >= 10
),
-- began: not fired in the state before; begins: nor shortly before
marked AS (
  SELECT *, CASE WHEN at_us = before_us THEN 0 ELSE 1 END AS began,
         CASE WHEN at_us - before_us <= bridge_windows * short_us THEN 0 ELSE 1 END AS begins
  FROM firing CROSS JOIN params
),
numbered AS (
  SELECT *, sum(begins) OVER (PARTITION BY grp, rule ORDER BY at_us) AS alert FROM marked
),
summed AS (
  SELECT grp, rule, threshold, long_us, budget_share, period_days, min(at_us) AS start_us, max(coalesce(next_us, last_us)) AS end_us,
         count(*) > count(next_us) AS open, sum(began) AS fired, max(long_burn) AS peak_burn, max(short_burn) AS peak_short_burn,
         -- what the first window held when it began to fire, and what came until the end
         max(long_n - sum_n) + max(coalesce(next_n, sum_n)) AS n, max(long_bad - sum_bad) + max(coalesce(next_bad, sum_bad)) AS bad
  FROM numbered
  GROUP BY grp, rule, threshold, long_us, budget_share, period_days, alert
)
SELECT grp, rule, start_us, end_us, open, CAST(fired AS BIGINT) AS fired, threshold, peak_burn, peak_short_burn, start_us - long_us AS since_us, n, bad,
       bad / (n * budget_share) * (end_us - start_us + long_us) / (period_days * 864e8) AS budget_used
FROM summed
ORDER BY grp, rule, start_us
