-- title Error budget by week
-- about By ISO week (UTC) of arrival. Allowed: the bad calls that the objective lets pass, (1 - objective) x judged calls. used_share of them is also the burn
-- about rate over the week: 1 spends exactly the week's budget, above it the objective is missed. period_used is the part of the budget of period_days that
-- about went in the part of the week that the log covers (seconds). Attainment has a 95 % interval (Wilson).
-- level L0
-- param objective DOUBLE 0.99
-- param period_days DOUBLE 30
-- key week_us time
-- key grp
-- column week text none
-- column n requests none
-- column good requests higher
-- column bad requests lower
-- column unevaluable requests none
-- column attainment share higher
-- column attainment_low share higher
-- column attainment_high share higher
-- column objective share none
-- column allowed requests none
-- column used_share share lower
-- column left_calls requests higher
-- column left_share share higher
-- column period_used share lower
-- column seconds s none
WITH
-- 1970-01-05 was a Monday
counted AS (
  SELECT start_us - mod(mod(start_us - 345600000000, 604800000000) + 604800000000, 604800000000) AS week_us, grp, CAST(sum(n) AS BIGINT) AS n,
         CAST(sum(good) AS BIGINT) AS good, CAST(sum(bad) AS BIGINT) AS bad, CAST(sum(unevaluable) AS BIGINT) AS unevaluable, nullif(sum(good + bad), 0) * 1e0 AS base
  FROM judged_steps
  GROUP BY 1, 2
),
-- Wilson interval (metrics.md 2.2), z = 1.959963984540054; the objective's complement without the noise of its last bits
measured AS (
  SELECT counted.*, good / base AS attainment, (good + 1.9207294103470844e0) / (base + 3.841458820694169e0) AS middle,
         1.959963984540054e0 / (base + 3.841458820694169e0) * sqrt(good * (1 - good / base) + 9.603647051735422e-1) AS half,
         objective, period_days, round(base * round(1 - objective, 9), 6) AS allowed
  FROM counted CROSS JOIN params
)
SELECT week_us, grp, week, n, good, bad, unevaluable, attainment,
       CASE WHEN good = 0 AND base > 0 THEN 0e0 ELSE middle - half END AS attainment_low,
       CASE WHEN good = base THEN 1e0 ELSE middle + half END AS attainment_high, objective,
       allowed, bad / nullif(allowed, 0) AS used_share, allowed - bad AS left_calls, 1 - bad / nullif(allowed, 0) AS left_share,
       bad / nullif(allowed, 0) * seconds / (period_days * 864e2) AS period_used, seconds
FROM measured LEFT JOIN weeks ON measured.week_us = weeks.start_us
ORDER BY week_us, grp
