-- about Attempts with a verdict under the SLO of params (metrics.md 0.2, 1.1, 3.1). A placeholder {name} is the parameter's value, so that terms
-- about without a bound are folded away and their columns are not read. A bound may depend on the row's tenant, model and input tokens; {NAME_set}
-- about says whether the row has one. A term of streams does not apply to what came whole (its NAME_ok is NULL), but under nonstream fail it is missed, and under
-- about nonstream e2e the time to the end is held against the bound of ttft. asked: the terms that the SLO sets for the row, a sum of 1 ttft, 2 ttfvt, 4 tpot, 8 e2e, 16 max_gap.
-- param ttft_slo_us BOUND
-- param ttfvt_slo_us BOUND
-- param tpot_slo_us BOUND
-- param e2e_slo_us BOUND
-- param max_gap_slo_us BOUND
-- param client_errors TEXT beside|bad
-- param nonstream TEXT skip|fail|e2e
-- param by_input BOOLEAN false
SELECT *,
       CASE WHEN NOT ({ttft_slo_us_set} OR {ttfvt_slo_us_set} OR {tpot_slo_us_set} OR {e2e_slo_us_set} OR {max_gap_slo_us_set})
              THEN CASE WHEN generation AND NOT cached_response THEN 'unevaluable' ELSE 'excluded' END
            WHEN latency THEN
         CASE WHEN ttft_ok = FALSE OR tpot_ok = FALSE OR e2e_ok = FALSE OR max_gap_ok = FALSE OR ttfvt_ok = FALSE THEN 'bad'
              -- a bound of the row's own that depends on input tokens that are unknown
              WHEN {by_input} AND input_tokens IS NULL AND (({ttft_slo_us_set} AND {ttft_slo_us} IS NULL) OR ({ttfvt_slo_us_set} AND {ttfvt_slo_us} IS NULL)
                OR ({e2e_slo_us_set} AND {e2e_slo_us} IS NULL)) THEN 'unevaluable'
              -- the usual case first: every term has its measure
              WHEN (NOT {ttft_slo_us_set} OR ttft_ok) AND (NOT {ttfvt_slo_us_set} OR ttfvt_ok) AND (NOT {tpot_slo_us_set} OR tpot_ok)
               AND (NOT {e2e_slo_us_set} OR e2e_ok) AND (NOT {max_gap_slo_us_set} OR max_gap_ok) THEN 'good'
              -- a term applies, but the log does not hold its measure
              WHEN {e2e_slo_us_set} AND e2e_us IS NULL THEN 'unevaluable'
              WHEN whole IS NOT TRUE AND {ttft_slo_us_set} AND ttft_us IS NULL AND coalesce(output_tokens >= 1, TRUE) THEN 'unevaluable'
              WHEN whole IS NOT TRUE AND {ttfvt_slo_us_set} AND ttfvt_us IS NULL AND coalesce(output_tokens >= 1, TRUE) THEN 'unevaluable'
              WHEN whole IS NOT TRUE AND {tpot_slo_us_set} AND tpot_us IS NULL AND coalesce(paced_tokens >= 2, TRUE) THEN 'unevaluable'
              WHEN whole IS NOT TRUE AND {max_gap_slo_us_set} AND max_gap_us IS NULL AND coalesce(chunks >= 2, output_tokens >= 2, TRUE) THEN 'unevaluable'
              -- no term applies
              WHEN coalesce(ttft_ok, ttfvt_ok, tpot_ok, e2e_ok, max_gap_ok) IS NULL THEN 'unevaluable'
              ELSE 'good' END
            WHEN NOT generation OR cached_response THEN 'excluded'
            WHEN outcome = 'failed' OR (outcome = 'client_error' AND {client_errors} = 'bad') THEN 'bad'
            WHEN outcome = 'client_error' AND whole AND NOT {e2e_slo_us_set} THEN 'unevaluable'
            -- cut off: bad when a deadline had passed by then; without a first token the wait lasted until the end
            WHEN outcome IN ('cancelled', 'in_flight')
             AND (end_us > {e2e_slo_us}
                  OR ((ttft_us IS NOT NULL OR (stream AND whole IS NOT TRUE)) AND (coalesce(ttft_us, end_us) > {ttft_slo_us} OR max_gap_us > {max_gap_slo_us}
                                    OR coalesce(ttfvt_us, CASE WHEN ttft_us IS NULL THEN end_us END) > {ttfvt_slo_us}))) THEN 'bad'
            ELSE 'excluded' END AS verdict
FROM (
  SELECT *,
         {ttft_slo_us} AS ttft_slo_us, {ttfvt_slo_us} AS ttfvt_slo_us, {tpot_slo_us} AS tpot_slo_us, {e2e_slo_us} AS e2e_slo_us,
         {max_gap_slo_us} AS max_gap_slo_us,
         CASE WHEN whole AND {ttft_slo_us_set} AND {nonstream} <> 'skip' THEN {nonstream} = 'e2e' AND e2e_us <= {ttft_slo_us} ELSE ttft_us <= {ttft_slo_us} END AS ttft_ok,
         CASE WHEN whole AND {ttfvt_slo_us_set} AND {nonstream} = 'fail' THEN FALSE ELSE ttfvt_us <= {ttfvt_slo_us} END AS ttfvt_ok,
         CASE WHEN whole AND {tpot_slo_us_set} AND {nonstream} = 'fail' THEN FALSE ELSE tpot_us <= {tpot_slo_us} END AS tpot_ok,
         e2e_us <= {e2e_slo_us} AS e2e_ok,
         CASE WHEN whole AND {max_gap_slo_us_set} AND {nonstream} = 'fail' THEN FALSE ELSE max_gap_us <= {max_gap_slo_us} END AS max_gap_ok,
         CASE WHEN {ttft_slo_us_set} THEN 1 ELSE 0 END + CASE WHEN {ttfvt_slo_us_set} THEN 2 ELSE 0 END + CASE WHEN {tpot_slo_us_set} THEN 4 ELSE 0 END
           + CASE WHEN {e2e_slo_us_set} THEN 8 ELSE 0 END + CASE WHEN {max_gap_slo_us_set} THEN 16 ELSE 0 END AS asked
  FROM requests
)
