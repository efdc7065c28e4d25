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
-- calls that a model answered or should have; one row a group, verdict and set of missed terms (a sum of 1, 2, 4, 8, 16; below 0: not answered, no set)
counted AS (
  SELECT grp, verdict, CASE WHEN verdict = 'good' THEN 0 WHEN outcome = 'client_error' THEN -2 WHEN NOT latency THEN -1
                            ELSE CASE WHEN ttft_ok = FALSE THEN 1 ELSE 0 END + CASE WHEN ttfvt_ok = FALSE THEN 2 ELSE 0 END
                               + CASE WHEN tpot_ok = FALSE THEN 4 ELSE 0 END + CASE WHEN e2e_ok = FALSE THEN 8 ELSE 0 END
                               + CASE WHEN max_gap_ok = FALSE THEN 16 ELSE 0 END END AS missed,
         count(*) AS n, coalesce(sum(output_tokens), 0) AS tokens
  FROM calls
  WHERE generation AND NOT cached_response
  GROUP BY 1, 2, 3
),
-- what the attempts add that do not speak for their call
others AS (
  SELECT grp, sum(other_attempts) AS attempts, sum(other_judged) AS judged, sum(other_good) AS good, sum(other_tokens) AS tokens
  FROM calls
  WHERE generation AND NOT cached_response AND other_attempts > 0
  GROUP BY grp
),
marked AS (
  SELECT counted.*, CASE WHEN verdict IN ('good', 'bad') THEN n ELSE 0 END AS judged, CASE WHEN verdict = 'good' THEN n ELSE 0 END AS good,
         CASE WHEN verdict IN ('good', 'bad') AND missed >= 0 THEN n ELSE 0 END AS answered
  FROM counted
),
summed AS (
  SELECT grp, sum(n) AS n, sum(judged) AS judged, nullif(sum(judged), 0) * 1e0 AS base, sum(good) AS good,
         sum(CASE WHEN verdict = 'unevaluable' THEN n ELSE 0 END) AS unevaluable, sum(CASE WHEN verdict = 'excluded' THEN n ELSE 0 END) AS excluded,
         sum(CASE WHEN missed = -2 THEN n ELSE 0 END) AS client_errors,
         sum(CASE WHEN verdict = 'good' THEN tokens ELSE 0 END) AS good_tokens, sum(tokens) AS tokens,
         sum(CASE WHEN mod(missed, 2) < 1 THEN answered ELSE 0 END) AS ttft_met, sum(CASE WHEN mod(missed, 4) < 2 THEN answered ELSE 0 END) AS ttfvt_met,
         sum(CASE WHEN mod(missed, 8) < 4 THEN answered ELSE 0 END) AS tpot_met, sum(CASE WHEN mod(missed, 16) < 8 THEN answered ELSE 0 END) AS e2e_met,
         sum(CASE WHEN missed < 16 THEN answered ELSE 0 END) AS max_gap_met
  FROM marked
  GROUP BY grp
),
-- a term without a bound has no attainment; nothing has one where nothing could be judged
shares AS (
  SELECT summed.*, good / base AS attainment, CASE WHEN ttft_slo_us IS NOT NULL THEN ttft_met / base END AS ttft,
         CASE WHEN ttfvt_slo_us IS NOT NULL THEN ttfvt_met / base END AS ttfvt, CASE WHEN tpot_slo_us IS NOT NULL THEN tpot_met / base END AS tpot,
         CASE WHEN e2e_slo_us IS NOT NULL THEN e2e_met / base END AS e2e, CASE WHEN max_gap_slo_us IS NOT NULL THEN max_gap_met / base END AS max_gap
  FROM summed CROSS JOIN params
),
-- from the terms alone the joint attainment lies between max(0, their sum - (their number - 1)) and the least of them
bounds AS (
  SELECT shares.*, coalesce(ttft, 1) + coalesce(ttfvt, 1) + coalesce(tpot, 1) + coalesce(e2e, 1) + coalesce(max_gap, 1) - 4 AS low,
         least(coalesce(ttft, 1), coalesce(ttfvt, 1), coalesce(tpot, 1), coalesce(e2e, 1), coalesce(max_gap, 1)) AS high
  FROM shares
)
SELECT b.grp, CAST(n AS BIGINT) AS n, CAST(b.good AS BIGINT) AS good, CAST(b.judged - b.good AS BIGINT) AS bad, CAST(unevaluable AS BIGINT) AS unevaluable,
       CAST(excluded AS BIGINT) AS excluded, CAST(client_errors AS BIGINT) AS client_errors, attainment,
       CASE WHEN base > 0 THEN greatest(low, 0) END AS attainment_low, CASE WHEN base > 0 THEN high END AS attainment_high,
       ttft AS ttft_attainment, ttfvt AS ttfvt_attainment, tpot AS tpot_attainment, e2e AS e2e_attainment, max_gap AS max_gap_attainment,
       CAST(n + coalesce(o.attempts, 0) AS BIGINT) AS attempts,
       (b.good + coalesce(o.good, 0)) * 1e0 / nullif(b.judged + coalesce(o.judged, 0), 0) AS attempt_attainment,
       b.good / seconds AS goodput_per_s, good_tokens / seconds AS token_goodput_per_s, (b.tokens + coalesce(o.tokens, 0)) / seconds AS delivered_per_s,
       good_tokens * 1e0 / nullif(b.tokens + coalesce(o.tokens, 0), 0) AS goodput_ratio, seconds
FROM bounds AS b LEFT JOIN others AS o ON b.grp = o.grp CROSS JOIN covered
ORDER BY b.grp
