-- about One row: the time that rates are divided by. The range asked for, else from the first arrival to the last end.
-- param from_us BIGINT
-- param to_us BIGINT
SELECT start_us, end_us, CASE WHEN end_us > start_us THEN (end_us - start_us) / 1e6 END AS seconds
FROM (
  SELECT coalesce({from_us}, min(arrival_us)) AS start_us, coalesce({to_us}, max(arrival_us + coalesce(end_us, 0))) AS end_us
  FROM requests
  WHERE {from_us} IS NULL OR {to_us} IS NULL
)
