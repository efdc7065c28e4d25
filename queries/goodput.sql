-- title Goodput
-- about Logical requests that met every term of the SLO. attainment = good / (good + bad). Bad: a term missed, a failure of ours, a call cut off after
-- about a deadline had passed. Out of the ratio: client errors, calls cut off in time, unevaluable (the log cannot tell, or no term applies). A term's
-- about own attainment, over the calls that the SLO sets it for, counts a failure as missed and what it says nothing of (one token, given whole, not
-- about measured) as met. Interval: Wilson, 95 %. Rates are over the time covered, by arrival; those of tokens are of the calls that tell them;
-- about those of good calls are unknown where no call can be judged.
-- level L0
-- metric good | requests | ok, and every term of the SLO that applies holds; failures of the service are bad, the caller's errors are shown beside
-- metric attainment | share | good / (good + bad), with Wilson interval; goodput: good requests and their tokens a second
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
marked AS (
  SELECT *, CASE WHEN verdict IN ('good', 'bad') THEN n ELSE 0 END AS judged, CASE WHEN verdict = 'good' THEN n ELSE 0 END AS good,
         CASE WHEN verdict IN ('good', 'bad') AND missed >= 0 THEN n ELSE 0 END AS answered
  FROM judged_sets
),
summed AS (
  SELECT grp, sum(n) AS n, sum(judged) AS judged, nullif(sum(judged), 0) * 1e0 AS base, sum(good) AS good,
         sum(CASE WHEN verdict = 'unevaluable' THEN n ELSE 0 END) AS unevaluable, sum(CASE WHEN verdict = 'excluded' THEN n ELSE 0 END) AS excluded,
         sum(CASE WHEN missed = -2 THEN n ELSE 0 END) AS client_errors,
         CASE WHEN sum(good) > 0 THEN sum(CASE WHEN verdict = 'good' THEN tokens END) WHEN sum(judged) > 0 THEN 0 END AS good_tokens, sum(tokens) AS tokens, sum(other_attempts) AS other_attempts,
         sum(other_judged) AS other_judged, sum(other_good) AS other_good, sum(other_tokens) AS other_tokens,
         sum(CASE WHEN mod(asked, 2) >= 1 THEN judged END) AS ttft_n, sum(CASE WHEN mod(asked, 2) >= 1 AND mod(missed, 2) < 1 THEN answered ELSE 0 END) AS ttft_met,
         sum(CASE WHEN mod(asked, 4) >= 2 THEN judged END) AS ttfvt_n, sum(CASE WHEN mod(asked, 4) >= 2 AND mod(missed, 4) < 2 THEN answered ELSE 0 END) AS ttfvt_met,
         sum(CASE WHEN mod(asked, 8) >= 4 THEN judged END) AS tpot_n, sum(CASE WHEN mod(asked, 8) >= 4 AND mod(missed, 8) < 4 THEN answered ELSE 0 END) AS tpot_met,
         sum(CASE WHEN mod(asked, 16) >= 8 THEN judged END) AS e2e_n, sum(CASE WHEN mod(asked, 16) >= 8 AND mod(missed, 16) < 8 THEN answered ELSE 0 END) AS e2e_met,
         sum(CASE WHEN asked >= 16 THEN judged END) AS max_gap_n, sum(CASE WHEN asked >= 16 AND missed < 16 THEN answered ELSE 0 END) AS max_gap_met
  FROM marked
  GROUP BY grp
),
-- Wilson interval (metrics.md 2.2), z = 1.959963984540054: middle and half width
intervals AS (
  SELECT summed.*, good / base AS attainment, (good + 1.9207294103470844e0) / (base + 3.841458820694169e0) AS middle,
         1.959963984540054e0 / (base + 3.841458820694169e0) * sqrt(good * (1 - good / base) + 9.603647051735422e-1) AS half
  FROM summed
)
SELECT grp, CAST(n AS BIGINT) AS n, CAST(good AS BIGINT) AS good, CAST(judged - good AS BIGINT) AS bad, CAST(unevaluable AS BIGINT) AS unevaluable,
       CAST(excluded AS BIGINT) AS excluded, CAST(client_errors AS BIGINT) AS client_errors, attainment,
       -- without the noise of the last bits at the ends
       CASE WHEN good = 0 AND base > 0 THEN 0e0 ELSE middle - half END AS attainment_low,
       CASE WHEN good = base THEN 1e0 ELSE middle + half END AS attainment_high, ttft_met * 1e0 / nullif(ttft_n, 0) AS ttft_attainment,
       ttfvt_met * 1e0 / nullif(ttfvt_n, 0) AS ttfvt_attainment, tpot_met * 1e0 / nullif(tpot_n, 0) AS tpot_attainment,
       e2e_met * 1e0 / nullif(e2e_n, 0) AS e2e_attainment, max_gap_met * 1e0 / nullif(max_gap_n, 0) AS max_gap_attainment,
       CAST(n + other_attempts AS BIGINT) AS attempts, (good + other_good) * 1e0 / nullif(judged + other_judged, 0) AS attempt_attainment,
       CASE WHEN base > 0 THEN good / seconds END AS goodput_per_s, good_tokens / seconds AS token_goodput_per_s, (tokens + other_tokens) / seconds AS delivered_per_s,
       good_tokens * 1e0 / nullif(tokens + other_tokens, 0) AS goodput_ratio, seconds
FROM intervals CROSS JOIN covered
ORDER BY grp
