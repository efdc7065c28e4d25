-- about Logical requests: the attempts that share root_request_id as their caller saw them (metrics.md 0.2), where one of them is numbered above 1; without
-- about such a number an id that comes twice stands for two calls. The last attempt with latency speaks for the call, else the last; times count from
-- about the start of the first. Columns of judged, and what the other attempts add: other_attempts, of them other_judged (good or bad) and other_good,
-- about other_tokens (their output); NULL without others.
SELECT *, CAST(NULL AS BIGINT) AS other_attempts, CAST(NULL AS BIGINT) AS other_judged, CAST(NULL AS BIGINT) AS other_good,
       CAST(NULL AS BIGINT) AS other_tokens
FROM judged
WHERE root_request_id NOT IN (SELECT root_request_id FROM retries)
UNION ALL
SELECT * EXCLUDE (place, attempts, judged_attempts, good_attempts, all_tokens, first_arrival_us, waited_us),
       attempts - 1 AS other_attempts,
       judged_attempts - CASE WHEN verdict IN ('good', 'bad') THEN 1 ELSE 0 END AS other_judged,
       good_attempts - CASE WHEN verdict = 'good' THEN 1 ELSE 0 END AS other_good,
       all_tokens - coalesce(output_tokens, 0) AS other_tokens
FROM (
  SELECT * REPLACE (
           first_arrival_us AS arrival_us, waited_us + ttft_us AS ttft_us, waited_us + ttfvt_us AS ttfvt_us, waited_us + e2e_us AS e2e_us,
           (waited_us + e2e_us) * 1e0 / nullif(output_tokens, 0) AS ntpot_us,
           -- the wait only adds: what was late without it is late
           CASE WHEN ttft_ok THEN waited_us + coalesce(ttft_us, e2e_us) <= ttft_slo_us ELSE ttft_ok END AS ttft_ok,
           CASE WHEN ttfvt_ok THEN waited_us + ttfvt_us <= ttfvt_slo_us ELSE ttfvt_ok END AS ttfvt_ok,
           CASE WHEN e2e_ok THEN waited_us + e2e_us <= e2e_slo_us ELSE e2e_ok END AS e2e_ok,
           -- the earlier attempts may have used up the time that the SLO allows
           CASE WHEN NOT generation OR cached_response THEN verdict
                WHEN latency AND ((ttft_ok AND waited_us + coalesce(ttft_us, e2e_us) > ttft_slo_us) OR waited_us + ttfvt_us > ttfvt_slo_us
                                  OR waited_us + e2e_us > e2e_slo_us) THEN 'bad'
                -- how long the earlier ones took is not known
                WHEN verdict = 'good' AND waited_us IS NULL AND mod(asked, 16) NOT IN (0, 4) THEN 'unevaluable'
                WHEN outcome IN ('cancelled', 'in_flight')
                 AND (waited_us + end_us > e2e_slo_us
                      OR (streamed AND (waited_us + coalesce(ttft_us, end_us) > ttft_slo_us
                            OR waited_us + coalesce(ttfvt_us, CASE WHEN ttft_us IS NULL THEN end_us END) > ttfvt_slo_us))) THEN 'bad'
                ELSE verdict END AS verdict)
  FROM (
    SELECT *, CASE WHEN attempts = 1 THEN 0 ELSE arrival_us - first_arrival_us END AS waited_us
    FROM (
      SELECT *,
             row_number() OVER (PARTITION BY root_request_id
               ORDER BY CASE WHEN latency THEN 0 ELSE 1 END, attempt DESC, arrival_us DESC NULLS LAST, request_id) AS place,
             count(*) OVER call AS attempts,
             CAST(sum(CASE WHEN verdict IN ('good', 'bad') THEN 1 ELSE 0 END) OVER call AS BIGINT) AS judged_attempts,
             CAST(sum(CASE WHEN verdict = 'good' THEN 1 ELSE 0 END) OVER call AS BIGINT) AS good_attempts,
             CAST(sum(output_tokens) OVER call AS BIGINT) AS all_tokens,
             min(arrival_us) OVER call AS first_arrival_us
      FROM retries
      WINDOW call AS (PARTITION BY root_request_id)
    )
  )
  WHERE place = 1
)
