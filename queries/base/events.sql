-- about Two rows an attempt to generate text: +1 at its arrival, -1 at its end or at the end of the range. Attempts without both are left out.
-- param to_us BIGINT
SELECT grp, replica, arrival_us AS at_us, 1 AS change
FROM requests
WHERE generation AND NOT cached_response AND arrival_us IS NOT NULL AND end_us >= 0
UNION ALL
SELECT grp, replica, least(arrival_us + end_us, {to_us}), -1
FROM requests
WHERE generation AND NOT cached_response AND arrival_us IS NOT NULL AND end_us >= 0
