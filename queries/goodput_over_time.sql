-- title Goodput over time
-- about As the query goodput, by arrival in steps of bin_us. Only steps in which a call arrived have a row. Rates are over the whole step, also of the first and
-- about the last one, which the log may cover in part.
-- level L0
-- param bin_us BIGINT 60000000
-- key grp
-- key start_us time
-- column n requests none
-- column good requests higher
-- column bad requests lower
-- column unevaluable requests none
-- column excluded requests none
-- column attainment share higher
-- column goodput_per_s requests/s higher
-- column token_goodput_per_s tokens/s higher
-- column delivered_per_s tokens/s higher
-- chart line x=start_us y=attainment
WITH
placed AS (
  SELECT grp, start_us - mod(start_us, bin_us) AS start_us, bin_us / 1e6 AS seconds, n, good, bad, unevaluable, excluded, good_tokens, delivered_tokens
  FROM judged_steps CROSS JOIN params
),
counted AS (
  SELECT grp, start_us, seconds, CAST(sum(n) AS BIGINT) AS n, CAST(sum(good) AS BIGINT) AS good, CAST(sum(bad) AS BIGINT) AS bad,
         CAST(sum(unevaluable) AS BIGINT) AS unevaluable, CAST(sum(excluded) AS BIGINT) AS excluded,
         CASE WHEN sum(good) > 0 THEN sum(good_tokens) WHEN sum(bad) > 0 THEN 0 END AS good_tokens, sum(delivered_tokens) AS delivered_tokens
  FROM placed
  GROUP BY grp, start_us, seconds
)
SELECT grp, start_us, n, good, bad, unevaluable, excluded,
       CASE WHEN good + bad > 0 THEN good * 1e0 / (good + bad) END AS attainment,
       CASE WHEN good + bad > 0 THEN good / seconds END AS goodput_per_s, good_tokens / seconds AS token_goodput_per_s, delivered_tokens / seconds AS delivered_per_s
FROM counted
ORDER BY grp, start_us
