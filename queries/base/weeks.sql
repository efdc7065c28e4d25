-- about The ISO weeks (Monday first, UTC) that the log in scope touches: start_us, its name (2026-W47), and the seconds of it between the first
-- about arrival and the last end.
SELECT start_us, strftime(make_timestamp(start_us), '%G-W%V') AS week,
       nullif(least(last_us, start_us + 604800000000) - greatest(first_us, start_us), 0) / 1e6 AS seconds
FROM (
  SELECT first_us, last_us,
         unnest(range(first_us - mod(mod(first_us - 345600000000, 604800000000) + 604800000000, 604800000000), last_us + 1, 604800000000)) AS start_us
  FROM (SELECT epoch_us(min(arrival)) AS first_us,
               max(epoch_us(arrival) + coalesce(end_us, 0)) AS last_us
        FROM attempts WHERE {range} AND {clock})
)
