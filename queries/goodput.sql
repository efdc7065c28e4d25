-- title Goodput
-- about Logical requests that met every term of the SLO. attainment = good / (good + bad). Bad: a term missed, a failure of ours, a call cut off after
-- about a deadline had passed. Out of the ratio: client errors, calls cut off in time, unevaluable (the log cannot tell, or no term applies). A term's
-- about own attainment counts a failure as missed and an answer of one token as met. Rates are over the time covered, by arrival.
-- level L0
-- key grp
-- column n requests none
-- column good requests higher
-- column bad requests lower
-- column unevaluable requests none
-- column excluded requests none
-- column client_errors requests none
-- column attainment share higher
-- column attainment_low share higher
-- column attainment_high share higher
-- column ttft_attainment share higher
-- column ttfvt_attainment share higher
-- column tpot_attainment share higher
-- column e2e_attainment share higher
-- column max_gap_attainment share higher
-- column attempts requests none
-- column attempt_attainment share higher
-- column goodput_per_s requests/s higher
-- column token_goodput_per_s tokens/s higher
-- column delivered_per_s tokens/s higher
-- column goodput_ratio share higher
-- column seconds s none
WITH
-- calls that a model answered or should have; one row a group and verdict. A term is missed by those answered that broke it
counted AS (
  SELECT grp, verdict, count(*) AS n, count(*) FILTER (WHERE latency) AS answered, count(*) FILTER (WHERE outcome = 'client_error') AS client_errors,
         count(*) FILTER (WHERE ttft_ok = FALSE) AS ttft_missed, count(*) FILTER (WHERE ttfvt_ok = FALSE) AS ttfvt_missed,
         count(*) FILTER (WHERE tpot_ok = FALSE) AS tpot_missed, count(*) FILTER (WHERE e2e_ok = FALSE) AS e2e_missed,
         count(*) FILTER (WHERE max_gap_ok = FALSE) AS max_gap_missed, coalesce(sum(output_tokens), 0) AS tokens
  FROM calls
  WHERE generation AND NOT cached_response
  GROUP BY grp, verdict
),
-- what attempts before the last one add
others AS (
  SELECT grp, sum(other_attempts) AS other_attempts, sum(other_judged) AS other_judged, sum(other_good) AS other_good, sum(other_tokens) AS other_tokens
  FROM calls
  WHERE generation AND NOT cached_response AND other_attempts > 0
  GROUP BY grp
),
-- 1 in the column of the own verdict
marked AS (
  SELECT counted.*, CASE WHEN verdict = 'good' THEN 1 ELSE 0 END AS is_good, CASE WHEN verdict = 'bad' THEN 1 ELSE 0 END AS is_bad,
         CASE WHEN verdict IN ('good', 'bad') THEN 1 ELSE 0 END AS is_judged
  FROM counted
),
summed AS (
  SELECT grp, sum(n) AS n, sum(n * is_judged) AS judged, sum(n * is_good) AS good, sum(n * is_bad) AS bad,
         sum(CASE WHEN verdict = 'unevaluable' THEN n ELSE 0 END) AS unevaluable, sum(CASE WHEN verdict = 'excluded' THEN n ELSE 0 END) AS excluded,
         sum(client_errors) AS client_errors,
         sum(is_judged * (answered - ttft_missed)) AS ttft_met, sum(is_judged * (answered - ttfvt_missed)) AS ttfvt_met,
         sum(is_judged * (answered - tpot_missed)) AS tpot_met, sum(is_judged * (answered - e2e_missed)) AS e2e_met,
         sum(is_judged * (answered - max_gap_missed)) AS max_gap_met,
         sum(tokens * is_good) AS good_tokens, sum(tokens) AS tokens
  FROM marked
  GROUP BY grp
),
with_others AS (
  SELECT summed.*, n + coalesce(other_attempts, 0) AS attempts, judged + coalesce(other_judged, 0) AS judged_attempts,
         good + coalesce(other_good, 0) AS good_attempts, tokens + coalesce(other_tokens, 0) AS delivered_tokens
  FROM summed LEFT JOIN others ON summed.grp = others.grp
),
-- a term without a bound has no attainment
shares AS (
  SELECT with_others.*, CASE WHEN judged > 0 THEN good * 1e0 / judged END AS attainment,
         CASE WHEN judged > 0 AND ttft_slo_us IS NOT NULL THEN ttft_met * 1e0 / judged END AS ttft_attainment,
         CASE WHEN judged > 0 AND ttfvt_slo_us IS NOT NULL THEN ttfvt_met * 1e0 / judged END AS ttfvt_attainment,
         CASE WHEN judged > 0 AND tpot_slo_us IS NOT NULL THEN tpot_met * 1e0 / judged END AS tpot_attainment,
         CASE WHEN judged > 0 AND e2e_slo_us IS NOT NULL THEN e2e_met * 1e0 / judged END AS e2e_attainment,
         CASE WHEN judged > 0 AND max_gap_slo_us IS NOT NULL THEN max_gap_met * 1e0 / judged END AS max_gap_attainment
  FROM with_others CROSS JOIN params
),
-- from the terms alone the joint attainment lies between these: max(0, sum - (terms - 1)) and the least
bounds AS (
  SELECT shares.*,
         least(coalesce(ttft_attainment, 1), coalesce(ttfvt_attainment, 1), coalesce(tpot_attainment, 1), coalesce(e2e_attainment, 1),
               coalesce(max_gap_attainment, 1)) AS attainment_high,
         greatest(0, coalesce(ttft_attainment, 1) + coalesce(ttfvt_attainment, 1) + coalesce(tpot_attainment, 1) + coalesce(e2e_attainment, 1)
               + coalesce(max_gap_attainment, 1) - 4) AS attainment_low
  FROM shares
)
SELECT grp, CAST(n AS BIGINT) AS n, CAST(good AS BIGINT) AS good, CAST(bad AS BIGINT) AS bad, CAST(unevaluable AS BIGINT) AS unevaluable,
       CAST(excluded AS BIGINT) AS excluded, CAST(client_errors AS BIGINT) AS client_errors, attainment,
       CASE WHEN judged > 0 THEN attainment_low END AS attainment_low, CASE WHEN judged > 0 THEN attainment_high END AS attainment_high,
       ttft_attainment, ttfvt_attainment, tpot_attainment, e2e_attainment, max_gap_attainment,
       CAST(attempts AS BIGINT) AS attempts, CASE WHEN judged_attempts > 0 THEN good_attempts * 1e0 / judged_attempts END AS attempt_attainment,
       good / seconds AS goodput_per_s, good_tokens / seconds AS token_goodput_per_s, delivered_tokens / seconds AS delivered_per_s,
       CASE WHEN delivered_tokens > 0 THEN good_tokens * 1e0 / delivered_tokens END AS goodput_ratio, seconds
FROM bounds CROSS JOIN covered
ORDER BY grp
