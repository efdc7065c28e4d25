-- about Logical requests with their times as their caller saw them (metrics.md 0.2), columns of requests: of the attempts that share root_request_id the
-- about last with latency speaks for the call, else the last; times count from the start of the first. As calls_grouped, without a verdict. own_arrival_us:
-- about when the attempt that speaks began.
SELECT *, arrival_us AS own_arrival_us FROM requests WHERE root_request_id NOT IN (SELECT root_request_id FROM retried)
UNION ALL
SELECT * EXCLUDE (place, attempts, first_arrival_us, waited_us)
         REPLACE (first_arrival_us AS arrival_us, waited_us + ttft_us AS ttft_us, waited_us + ttfvt_us AS ttfvt_us, waited_us + e2e_us AS e2e_us,
                  (waited_us + e2e_us) * 1e0 / nullif(output_tokens, 0) AS ntpot_us)
FROM (
  SELECT *, arrival_us AS own_arrival_us, CASE WHEN attempts = 1 THEN 0 ELSE arrival_us - first_arrival_us END AS waited_us
  FROM (
    SELECT *,
           row_number() OVER (PARTITION BY root_request_id
             ORDER BY CASE WHEN latency THEN 0 ELSE 1 END, attempt DESC, arrival_us DESC NULLS LAST, request_id) AS place,
           count(*) OVER (PARTITION BY root_request_id) AS attempts,
           min(arrival_us) OVER (PARTITION BY root_request_id) AS first_arrival_us
    FROM requests
    WHERE root_request_id IN (SELECT root_request_id FROM retried)
  )
)
WHERE place = 1
