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
-- calls that a model answered or should have; one row a group and verdict
counted AS (
  SELECT grp, verdict, count(*) AS n, count(*) FILTER (WHERE status = 'client_error') AS client_errors,
         count(*) FILTER (WHERE latency AND coalesce(ttft_ok, TRUE)) AS ttft_met,
         count(*) FILTER (WHERE latency AND coalesce(ttfvt_ok, TRUE)) AS ttfvt_met,
         count(*) FILTER (WHERE latency AND coalesce(tpot_ok, TRUE)) AS tpot_met,
         count(*) FILTER (WHERE latency AND coalesce(e2e_ok, TRUE)) AS e2e_met,
         count(*) FILTER (WHERE latency AND coalesce(max_gap_ok, TRUE)) AS max_gap_met,
         sum(attempts) AS attempts, sum(judged_attempts) AS judged_attempts, sum(good_attempts) AS good_attempts,
         sum(output_tokens) AS tokens, sum(delivered_tokens) AS delivered_tokens
  FROM calls
  WHERE generation AND NOT cached_response
  GROUP BY grp, verdict
),
summed AS (
  SELECT grp, sum(n) AS n, sum(CASE WHEN verdict IN ('good', 'bad') THEN n END) AS eligible,
         coalesce(sum(CASE WHEN verdict = 'good' THEN n END), 0) AS good, coalesce(sum(CASE WHEN verdict = 'bad' THEN n END), 0) AS bad,
         coalesce(sum(CASE WHEN verdict = 'unevaluable' THEN n END), 0) AS unevaluable,
         coalesce(sum(CASE WHEN verdict = 'excluded' THEN n END), 0) AS excluded, sum(client_errors) AS client_errors,
         sum(CASE WHEN verdict IN ('good', 'bad') THEN ttft_met END) AS ttft_met, sum(CASE WHEN verdict IN ('good', 'bad') THEN ttfvt_met END) AS ttfvt_met,
         sum(CASE WHEN verdict IN ('good', 'bad') THEN tpot_met END) AS tpot_met, sum(CASE WHEN verdict IN ('good', 'bad') THEN e2e_met END) AS e2e_met,
         sum(CASE WHEN verdict IN ('good', 'bad') THEN max_gap_met END) AS max_gap_met,
         sum(attempts) AS attempts, sum(judged_attempts) AS judged_attempts, sum(good_attempts) AS good_attempts,
         coalesce(sum(CASE WHEN verdict = 'good' THEN tokens END), 0) AS good_tokens, sum(delivered_tokens) AS delivered_tokens
  FROM counted
  GROUP BY grp
),
-- a term without a bound has no attainment
shares AS (
  SELECT summed.*, good * 1e0 / eligible AS attainment,
         CASE WHEN ttft_slo_us IS NOT NULL THEN ttft_met * 1e0 / eligible END AS ttft_attainment,
         CASE WHEN ttfvt_slo_us IS NOT NULL THEN ttfvt_met * 1e0 / eligible END AS ttfvt_attainment,
         CASE WHEN tpot_slo_us IS NOT NULL THEN tpot_met * 1e0 / eligible END AS tpot_attainment,
         CASE WHEN e2e_slo_us IS NOT NULL THEN e2e_met * 1e0 / eligible END AS e2e_attainment,
         CASE WHEN max_gap_slo_us IS NOT NULL THEN max_gap_met * 1e0 / eligible END AS max_gap_attainment
  FROM summed CROSS JOIN params
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
       CASE WHEN eligible > 0 THEN attainment_low END AS attainment_low, CASE WHEN eligible > 0 THEN attainment_high END AS attainment_high,
       ttft_attainment, ttfvt_attainment, tpot_attainment, e2e_attainment, max_gap_attainment,
       CAST(attempts AS BIGINT) AS attempts, CASE WHEN judged_attempts > 0 THEN good_attempts * 1e0 / judged_attempts END AS attempt_attainment,
       good / seconds AS goodput_per_s, good_tokens / seconds AS token_goodput_per_s, delivered_tokens / seconds AS delivered_per_s,
       CASE WHEN delivered_tokens > 0 THEN good_tokens * 1e0 / delivered_tokens END AS goodput_ratio, seconds
FROM bounds CROSS JOIN covered
ORDER BY grp
