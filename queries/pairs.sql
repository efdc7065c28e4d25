-- title Logical requests for pairing
-- about One row a logical request as its caller saw it (view calls): what a comparison pairs by id. attempt_id and attempt name the attempt that
-- about speaks for it. copies above 1: the id stands for several calls, so that it cannot be paired.
-- level L0
-- key request_id
-- column grp text none
-- column attempt_id text none
-- column attempt number none
-- column copies number none
-- column session_id text none
-- column arrival_us time none
-- column vantage text none
-- column ttft_kind text none
-- column quality text none
-- column status text none
-- column latency flag none
-- column verdict text none
-- column ttft_us us lower
-- column tpot_us us lower
-- column e2e_us us lower
-- column max_gap_us us lower
-- column send_lag_us us lower
-- column input_tokens tokens none
-- column cached_tokens tokens higher
-- column output_tokens tokens none
WITH
-- how often each attempt of a call was told
told AS (
  SELECT root_request_id, request_id, attempt, count(*) AS n FROM requests GROUP BY root_request_id, request_id, attempt
),
copies AS (
  SELECT root_request_id, max(n) AS copies FROM told GROUP BY root_request_id
)
SELECT calls.root_request_id AS request_id, grp, request_id AS attempt_id, attempt,
       greatest(copies, count(*) OVER (PARTITION BY calls.root_request_id)) AS copies, session_id, arrival_us, vantage, ttft_kind,
       quality, status, latency, verdict, ttft_us, tpot_us, e2e_us, max_gap_us, send_lag_us, input_tokens, cached_tokens, output_tokens
FROM calls JOIN copies ON calls.root_request_id = copies.root_request_id
WHERE generation
ORDER BY calls.root_request_id, arrival_us, attempt
