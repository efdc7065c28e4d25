-- title Burn rate over time
-- about Burn = share of bad calls in a window / share that the objective allows: 1 spends the error budget of period_days exactly. Each rule looks at a long
-- about and a short window and fires when both burn faster than its threshold and the short one holds at least 10 bad calls. Windows end with a minute; a
-- about minute in which nothing enters or leaves has no row. Burns are unknown until the log is as long as the long window: nothing is extrapolated.
-- about For a curve: one rule (only), windows that end from since_us on at whole multiples of every_us.
-- level L0
-- metric burn rate | x | share of bad calls in a window / share that the objective allows
-- param only TEXT all|1h/5m|6h/30m|3d/6h
-- param since_us BIGINT 0
-- param every_us BIGINT 1
-- key grp
-- key rule
-- key at_us time
-- column n requests none
-- column bad requests lower
-- column burn ratio lower
-- column short_n requests none
-- column short_bad requests lower
-- column short_burn ratio lower
-- column threshold ratio none
-- column firing text none
-- chart line x=at_us y=burn
WITH
seen AS (
  SELECT *
  FROM burn_states
  WHERE (SELECT only FROM params) IN ('all', rule) AND at_us >= (SELECT since_us FROM params) AND mod(at_us, (SELECT every_us FROM params)) = 0
)
SELECT grp, rule, at_us, long_n AS n, long_bad AS bad, long_burn AS burn, short_n, short_bad, short_burn, threshold,
       long_burn > threshold AND short_burn > threshold AND short_bad >= 10 AS firing
FROM seen
ORDER BY grp, rule, at_us
