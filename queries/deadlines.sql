-- title Token deadlines
-- about The i-th token of a call is due at the SLO's ttft bound + (i - 1) x its tpot bound after the start: what comes early pays for a later pause. A call attains
-- about when no token is late. from_chunks: calls whose tokens' times are known; from_ends: only first and last, so that their lateness is a lower bound and
-- about attain_share an upper one. Failures of ours count as missed, calls cut off only when late by then; untimed calls (given whole, or the log does not
-- about tell) are out. in_time_share: tokens in time, of from_chunks. Rates are over the time covered.
-- level L1
-- metric token deadline | ms | the i-th token is due at the ttft bound + (i - 1) x the tpot bound
-- key grp
-- column n requests none
-- column attained requests higher
-- column attain_share share higher
-- column from_chunks requests none
-- column from_ends requests none
-- column untimed requests none
-- column in_time_share share higher
-- column deadline_goodput_per_s tokens/s higher
-- column delivered_per_s tokens/s higher
-- column goodput_ratio share higher
WITH
judged_calls AS (
  SELECT *, CASE WHEN latency THEN late_us <= 0 WHEN outcome = 'failed' THEN FALSE WHEN outcome IN ('cancelled', 'in_flight') AND late_us > 0 THEN FALSE END AS attains
  FROM timelines
),
counted AS (
  SELECT grp, count(attains) AS n, count(CASE WHEN attains THEN 1 END) AS attained,
         count(CASE WHEN form = 'chunks' THEN 1 END) AS from_chunks, count(CASE WHEN form = 'ends' THEN 1 END) AS from_ends,
         count(CASE WHEN latency AND form IS NULL THEN 1 END) AS untimed,
         sum(in_time) AS in_time, sum(CASE WHEN form = 'chunks' THEN tokens END) AS chunk_tokens_seen,
         coalesce(sum(CASE WHEN attains THEN tokens END), 0) AS good_tokens, coalesce(sum(tokens), 0) AS tokens
  FROM judged_calls
  GROUP BY grp
)
SELECT grp, n, attained, attained * 1e0 / nullif(n, 0) AS attain_share, from_chunks, from_ends, untimed, in_time / nullif(chunk_tokens_seen, 0) AS in_time_share,
       good_tokens / seconds AS deadline_goodput_per_s, tokens / seconds AS delivered_per_s, good_tokens / nullif(tokens, 0) AS goodput_ratio
FROM counted CROSS JOIN covered
ORDER BY grp
