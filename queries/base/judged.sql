-- about Attempts with a verdict under the SLO of params (metrics.md 0.2, 1.1, 3.1). A placeholder {name} is the parameter's value, so that terms
-- about without a bound are folded away and their columns are not read.
-- param ttft_slo_us BIGINT
-- param ttfvt_slo_us BIGINT
-- param tpot_slo_us BIGINT
-- param e2e_slo_us BIGINT
-- param max_gap_slo_us BIGINT
-- param client_errors TEXT beside|bad
-- param nonstream TEXT skip|fail|e2e
SELECT *,
       {ttft_slo_us} AS ttft_slo_us, {ttfvt_slo_us} AS ttfvt_slo_us, {tpot_slo_us} AS tpot_slo_us, {e2e_slo_us} AS e2e_slo_us,
       {max_gap_slo_us} AS max_gap_slo_us,
       ttft_us <= {ttft_slo_us} AS ttft_ok, ttfvt_us <= {ttfvt_slo_us} AS ttfvt_ok, tpot_us <= {tpot_slo_us} AS tpot_ok,
       e2e_us <= {e2e_slo_us} AS e2e_ok, max_gap_us <= {max_gap_slo_us} AS max_gap_ok,
       CASE WHEN coalesce({ttft_slo_us}, {ttfvt_slo_us}, {tpot_slo_us}, {e2e_slo_us}, {max_gap_slo_us}) IS NULL
              THEN CASE WHEN generation AND NOT cached_response THEN 'unevaluable' ELSE 'excluded' END
            WHEN latency THEN
         CASE WHEN ttft_us > {ttft_slo_us} OR tpot_us > {tpot_slo_us} OR e2e_us > {e2e_slo_us} OR max_gap_us > {max_gap_slo_us}
                OR ttfvt_us > {ttfvt_slo_us} THEN 'bad'
              -- the usual case first: every term has its measure
              WHEN ({ttft_slo_us} IS NULL OR ttft_us IS NOT NULL) AND ({ttfvt_slo_us} IS NULL OR ttfvt_us IS NOT NULL)
               AND ({tpot_slo_us} IS NULL OR tpot_us IS NOT NULL) AND ({e2e_slo_us} IS NULL OR e2e_us IS NOT NULL)
               AND ({max_gap_slo_us} IS NULL OR max_gap_us IS NOT NULL) THEN 'good'
              WHEN whole AND {nonstream} = 'fail' AND coalesce({ttft_slo_us}, {ttfvt_slo_us}, {tpot_slo_us}, {max_gap_slo_us}) IS NOT NULL THEN 'bad'
              WHEN whole AND {nonstream} = 'e2e' AND {ttft_slo_us} IS NOT NULL
                THEN CASE WHEN e2e_us > {ttft_slo_us} THEN 'bad' WHEN e2e_us IS NULL THEN 'unevaluable' ELSE 'good' END
              -- a term applies, but the log does not hold its measure
              WHEN {e2e_slo_us} IS NOT NULL AND e2e_us IS NULL THEN 'unevaluable'
              WHEN whole IS NOT TRUE AND {ttft_slo_us} IS NOT NULL AND ttft_us IS NULL AND coalesce(output_tokens >= 1, TRUE) THEN 'unevaluable'
              WHEN whole IS NOT TRUE AND {ttfvt_slo_us} IS NOT NULL AND ttfvt_us IS NULL AND coalesce(output_tokens >= 1, TRUE) THEN 'unevaluable'
              WHEN whole IS NOT TRUE AND {tpot_slo_us} IS NOT NULL AND tpot_us IS NULL AND coalesce(paced_tokens >= 2, TRUE) THEN 'unevaluable'
              WHEN whole IS NOT TRUE AND {max_gap_slo_us} IS NOT NULL AND max_gap_us IS NULL AND coalesce(chunks >= 2, output_tokens >= 2, TRUE) THEN 'unevaluable'
              -- no term applies
              WHEN ({ttft_slo_us} IS NULL OR ttft_us IS NULL) AND ({ttfvt_slo_us} IS NULL OR ttfvt_us IS NULL)
               AND ({tpot_slo_us} IS NULL OR tpot_us IS NULL) AND ({e2e_slo_us} IS NULL OR e2e_us IS NULL)
               AND ({max_gap_slo_us} IS NULL OR max_gap_us IS NULL) THEN 'unevaluable'
              ELSE 'good' END
            WHEN NOT generation OR cached_response THEN 'excluded'
            WHEN outcome = 'failed' OR (outcome = 'client_error' AND {client_errors} = 'bad') THEN 'bad'
            WHEN outcome = 'client_error' AND whole AND {e2e_slo_us} IS NULL THEN 'unevaluable'
            -- cut off: bad when a deadline had passed by then; without a first token the wait lasted until the end
            WHEN outcome IN ('cancelled', 'in_flight')
             AND (end_us > {e2e_slo_us}
                  OR ((ttft_us IS NOT NULL OR (stream AND whole IS NOT TRUE)) AND (coalesce(ttft_us, end_us) > {ttft_slo_us} OR max_gap_us > {max_gap_slo_us}
                                    OR coalesce(ttfvt_us, CASE WHEN ttft_us IS NULL THEN end_us END) > {ttfvt_slo_us}))) THEN 'bad'
            ELSE 'excluded' END AS verdict
FROM requests
