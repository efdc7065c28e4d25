-- title Burn rate alerts that would have fired
-- about Stretches of time in which a rule of the query burn_rate fired: from the end of the minute at which both windows first exceeded the threshold, to the
-- about one at which one no longer did (open: the end of the log). Counts are over the calls from the start of the first long window to the end of the alert;
-- about budget_used is their burn x that time / period_days: the part of the whole period's error budget that went.
-- level L0
-- param period_days DOUBLE 30
-- key grp
-- key rule
-- key start_us time
-- column end_us time none
-- column open bool none
-- column threshold ratio none
-- column peak_burn ratio lower
-- column peak_short_burn ratio lower
-- column since_us time none
-- column n requests none
-- column bad requests lower
-- column budget_used share lower
WITH
judged_states AS (
  SELECT *, coalesce(long_burn > threshold AND short_burn > threshold AND short_bad >= 10, FALSE) AS firing,
         lead(at_us) OVER (PARTITION BY grp, rule ORDER BY at_us) AS next_us,
         lead(sum_n) OVER (PARTITION BY grp, rule ORDER BY at_us) AS next_n, lead(sum_bad) OVER (PARTITION BY grp, rule ORDER BY at_us) AS next_bad
  FROM burn_states
),
-- an alert has the number of quiet states before it
numbered AS (
  SELECT *, sum(CASE WHEN firing THEN 0 ELSE 1 END) OVER (PARTITION BY grp, rule ORDER BY at_us) AS quiet FROM judged_states
),
stretches AS (
  SELECT grp, rule, threshold, long_us, budget_share, min(at_us) AS start_us, max(coalesce(next_us, last_us)) AS end_us,
         count(*) > count(next_us) AS open, max(long_burn) AS peak_burn, max(short_burn) AS peak_short_burn,
         -- what the first window held when it began to fire, and what came until the end
         max(long_n - sum_n) + max(coalesce(next_n, sum_n)) AS n, max(long_bad - sum_bad) + max(coalesce(next_bad, sum_bad)) AS bad
  FROM numbered
  WHERE firing
  GROUP BY grp, rule, threshold, long_us, budget_share, quiet
)
SELECT grp, rule, start_us, end_us, open, threshold, peak_burn, peak_short_burn, start_us - long_us AS since_us, n, bad,
       bad / (n * budget_share) * (end_us - start_us + long_us) / (period_days * 864e8) AS budget_used
FROM stretches CROSS JOIN params
ORDER BY grp, rule, start_us
