-- about From when to when the streams of stall_victims decoded, one row a request.
SELECT replica, request_id, attempt, arrival_us, arrival_us + steps[1] AS start_us, arrival_us + CAST(list_sum(steps) AS BIGINT) AS end_us FROM paced_streams
UNION ALL
SELECT replica, request_id, attempt, arrival_us, start_us, end_us FROM ended_streams
