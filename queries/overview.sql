-- title Overview
-- about Everything in the time range, by group: attempts by outcome, calls (attempts of one logical request count once, where the last was), the time
-- about covered, and tokens as the servers reported them. Nothing is left out; sums are over the attempts that say.
-- level L0
-- key grp
-- column n requests none
-- column calls requests none
-- column ok requests higher
-- column failed requests lower
-- column cancelled requests none
-- column client_errors requests none
-- column in_flight requests none
-- column unknown requests none
-- column cached_responses requests none
-- column not_generation requests none
-- column streamed requests none
-- column sessions sessions none
-- column first_arrival_us time none
-- column last_arrival_us time none
-- column last_end_us time none
-- column arrivals_per_s requests/s none
-- column input_tokens tokens none
-- column cached_tokens tokens higher
-- column output_tokens tokens none
-- column reasoning_tokens tokens none
WITH
counted AS (
  SELECT grp, count(*) AS n,
         count(*) FILTER (WHERE status IN ('ok', 'ok_length')) AS ok,
         count(*) FILTER (WHERE status = 'failed') AS failed,
         count(*) FILTER (WHERE status = 'cancelled') AS cancelled,
         count(*) FILTER (WHERE status = 'client_error') AS client_errors,
         count(*) FILTER (WHERE status = 'in_flight') AS in_flight,
         count(*) FILTER (WHERE status = 'unknown') AS unknown,
         count(*) FILTER (WHERE cached_response) AS cached_responses,
         count(*) FILTER (WHERE NOT generation) AS not_generation,
         count(*) FILTER (WHERE streamed) AS streamed,
         count(DISTINCT session_id) AS sessions,
         min(arrival_us) AS first_arrival_us, max(arrival_us) AS last_arrival_us, max(arrival_us + end_us) AS last_end_us,
         CAST(sum(input_tokens) AS BIGINT) AS input_tokens, CAST(sum(cached_tokens) AS BIGINT) AS cached_tokens,
         CAST(sum(output_tokens) AS BIGINT) AS output_tokens, CAST(sum(reasoning_tokens) AS BIGINT) AS reasoning_tokens
  FROM requests
  GROUP BY grp
),
called AS (
  SELECT grp, count(*) AS calls FROM calls GROUP BY grp
)
SELECT counted.grp, n, coalesce(calls, 0) AS calls, ok, failed, cancelled, client_errors, in_flight, unknown, cached_responses, not_generation, streamed, sessions,
       first_arrival_us, last_arrival_us, last_end_us, n / seconds AS arrivals_per_s,
       input_tokens, cached_tokens, output_tokens, reasoning_tokens
FROM counted LEFT JOIN called ON counted.grp = called.grp CROSS JOIN covered
ORDER BY counted.grp
