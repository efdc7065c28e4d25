-- about Calls to generate text, one row a group, verdict, terms that the SLO asks of them (asked) and terms that they missed (missed: a sum as asked, 0 where
-- about good; -1 not answered, -2 refused as the caller's error: no terms): n calls, their tokens (NULL where none tells), and what the attempts add that do not speak for their call
-- about (other_attempts, of them other_judged and other_good, other_tokens). measured_good: every term asked was measured and holds.
-- kept goodput and goodput by other rules read it
SELECT {grp} AS grp, verdict, asked,
       CASE WHEN verdict = 'good' THEN 0 WHEN outcome = 'client_error' THEN -2 WHEN outcome <> 'ok' THEN -1
            ELSE CASE WHEN ttft_ok = FALSE THEN 1 ELSE 0 END + CASE WHEN ttfvt_ok = FALSE THEN 2 ELSE 0 END + CASE WHEN tpot_ok = FALSE THEN 4 ELSE 0 END
               + CASE WHEN e2e_ok = FALSE THEN 8 ELSE 0 END + CASE WHEN max_gap_ok = FALSE THEN 16 ELSE 0 END END AS missed,
       coalesce((mod(asked, 2) < 1 OR ttft_ok) AND (mod(asked, 4) < 2 OR ttfvt_ok) AND (mod(asked, 8) < 4 OR tpot_ok) AND (mod(asked, 16) < 8 OR e2e_ok)
                AND (asked < 16 OR max_gap_ok) AND asked > 0, FALSE) AS measured_good,
       CAST(sum(n) AS BIGINT) AS n, CAST(sum(tokens) AS BIGINT) AS tokens, CAST(coalesce(sum(other_attempts), 0) AS BIGINT) AS other_attempts,
       CAST(coalesce(sum(other_judged), 0) AS BIGINT) AS other_judged, CAST(coalesce(sum(other_good), 0) AS BIGINT) AS other_good,
       CAST(coalesce(sum(other_tokens), 0) AS BIGINT) AS other_tokens
FROM (
  -- equal calls are counted first: what follows from their columns, the name of the group too, is then worked out once a set, not once a call;
  -- without other attempts the engine leaves out their sums
  SELECT verdict, asked, outcome, ttfvt_ok, tpot_ok, e2e_ok, max_gap_ok,
         -- the end held against the bound of the first token: met, but not measured
         CASE WHEN {nonstream} = 'e2e' AND ttft_us IS NULL THEN nullif(ttft_ok, TRUE) ELSE ttft_ok END AS ttft_ok{by}, count(*) AS n,
         CAST(sum(output_tokens) AS BIGINT) AS tokens, CASE WHEN {grouped} THEN CAST(sum(other_attempts) AS BIGINT) END AS other_attempts,
         CASE WHEN {grouped} THEN CAST(sum(other_judged) AS BIGINT) END AS other_judged, CASE WHEN {grouped} THEN CAST(sum(other_good) AS BIGINT) END AS other_good,
         CASE WHEN {grouped} THEN CAST(sum(other_tokens) AS BIGINT) END AS other_tokens
  FROM calls
  WHERE generation AND NOT cached_response
  GROUP BY 1, 2, 3, 4, 5, 6, 7, 8{by}
)
GROUP BY 1, 2, 3, 4, 5
