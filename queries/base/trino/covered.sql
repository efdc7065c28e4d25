-- about The same without DuckDB's short cut to what ends last.
SELECT start_us, end_us, CASE WHEN end_us > start_us THEN (end_us - start_us) / 1e6 END AS seconds
FROM (
  SELECT coalesce({from_us}, epoch_us(min(arrival))) AS start_us, coalesce({to_us}, max(epoch_us(arrival) + coalesce(end_us, 0))) AS end_us
  FROM attempts
  WHERE ({from_us} IS NULL OR {to_us} IS NULL) AND {range} AND {clock}
)
