-- about One row: the stretch of time in which calls arrive, half open. The range asked for, else from the first arrival to just after the last.
-- param from_us BIGINT
-- param to_us BIGINT
SELECT coalesce({from_us}, min(arrival_us)) AS start_us, coalesce({to_us}, max(arrival_us) + 1) AS until_us
FROM requests
WHERE generation AND NOT cached_response
