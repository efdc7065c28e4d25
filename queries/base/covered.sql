-- about One row: the time that rates are divided by. The range asked for, else from the first arrival to the last end. A bound that is given reads no data.
-- param from_us BIGINT
-- param to_us BIGINT
SELECT start_us, end_us, CASE WHEN end_us > start_us THEN (end_us - start_us) / 1e6 END AS seconds
FROM (
  SELECT coalesce({from_us}, (SELECT epoch_us(min(arrival)) FROM attempts WHERE {from_us} IS NULL AND {range} AND {clock})) AS start_us,
         coalesce({to_us}, (SELECT max(epoch_us(arrival) + coalesce(end_us, 0)) FROM attempts WHERE {to_us} IS NULL AND {range} AND {clock}
                            -- what ends last began within the longest call before the last arrival: the extremes stand in the file's statistics
                            AND arrival >= (SELECT max(arrival) - to_microseconds(coalesce(max(end_us), 0)) FROM attempts WHERE {to_us} IS NULL AND {range} AND {clock}))) AS end_us
)
