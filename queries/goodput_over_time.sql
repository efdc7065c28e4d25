-- title Goodput over time
-- about As the query goodput, by arrival in steps of bin_us. Only steps in which a call arrived have a row.
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
  SELECT grp, arrival_us - mod(arrival_us, bin_us) AS start_us, bin_us / 1e6 AS seconds, verdict, output_tokens, other_tokens
  FROM calls CROSS JOIN params
  WHERE generation AND NOT cached_response AND arrival_us IS NOT NULL
),
counted AS (
  SELECT grp, start_us, seconds, count(*) AS n,
         count(*) FILTER (WHERE verdict = 'good') AS good, count(*) FILTER (WHERE verdict = 'bad') AS bad,
         count(*) FILTER (WHERE verdict = 'unevaluable') AS unevaluable, count(*) FILTER (WHERE verdict = 'excluded') AS excluded,
         coalesce(sum(output_tokens) FILTER (WHERE verdict = 'good'), 0) AS good_tokens, coalesce(sum(output_tokens), 0) + coalesce(sum(other_tokens), 0) AS delivered_tokens
  FROM placed
  GROUP BY grp, start_us, seconds
)
SELECT grp, start_us, n, good, bad, unevaluable, excluded,
       CASE WHEN good + bad > 0 THEN good * 1e0 / (good + bad) END AS attainment,
       good / seconds AS goodput_per_s, good_tokens / seconds AS token_goodput_per_s, delivered_tokens / seconds AS delivered_per_s
FROM counted
ORDER BY grp, start_us
