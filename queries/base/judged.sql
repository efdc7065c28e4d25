-- about Requests with a verdict under the SLO of params (metrics.md 0.2, 1.1, 3.1).
-- param ttft_slo_us BIGINT
-- param ttfvt_slo_us BIGINT
-- param tpot_slo_us DOUBLE
-- param e2e_slo_us BIGINT
-- param max_gap_slo_us BIGINT
SELECT *,
       CASE WHEN NOT generation OR cached_response THEN 'excluded'
            WHEN status = 'failed' THEN 'bad'
            WHEN streamed = FALSE AND e2e_slo_us IS NULL AND status IN ('ok', 'ok_length', 'client_error') THEN 'unevaluable'
            WHEN status IN ('cancelled', 'in_flight') AND overdue THEN 'bad'
            WHEN status NOT IN ('ok', 'ok_length') THEN 'excluded'
            WHEN ttft_ok = FALSE OR ttfvt_ok = FALSE OR tpot_ok = FALSE OR e2e_ok = FALSE OR max_gap_ok = FALSE THEN 'bad'
            WHEN unknown OR coalesce(ttft_ok, ttfvt_ok, tpot_ok, e2e_ok, max_gap_ok) IS NULL THEN 'unevaluable'
            ELSE 'good' END AS verdict
FROM (
  SELECT *,
         ttft_us <= ttft_slo_us AS ttft_ok,
         ttfvt_us <= ttfvt_slo_us AS ttfvt_ok,
         tpot_us <= tpot_slo_us AS tpot_ok,
         e2e_us <= e2e_slo_us AS e2e_ok,
         max_gap_us <= max_gap_slo_us AS max_gap_ok,
         -- a term that applies but whose measure the log does not hold
         coalesce(e2e_slo_us IS NOT NULL AND e2e_us IS NULL, FALSE)
           OR streamed IS NOT FALSE AND (ttft_slo_us IS NOT NULL AND ttft_us IS NULL
                OR ttfvt_slo_us IS NOT NULL AND ttfvt_us IS NULL
                OR tpot_slo_us IS NOT NULL AND tpot_us IS NULL AND coalesce(paced_tokens >= 2, TRUE)
                OR max_gap_slo_us IS NOT NULL AND max_gap_us IS NULL AND coalesce(chunks >= 2, TRUE)) AS unknown,
         -- a deadline that had passed when the call was cut off; without a first token the wait lasted until the end
         coalesce(streamed AND (coalesce(ttft_us, end_us) > ttft_slo_us), FALSE)
           OR coalesce(streamed AND (coalesce(ttfvt_us, CASE WHEN ttft_us IS NULL THEN end_us END) > ttfvt_slo_us), FALSE)
           OR coalesce(end_us > e2e_slo_us, FALSE) OR coalesce(streamed AND max_gap_us > max_gap_slo_us, FALSE) AS overdue
  FROM requests CROSS JOIN params
)
