-- about The ISO weeks (Monday first, UTC) that the log in scope touches: start_us, its name (2026-W47), and the seconds of it between the minute of the
-- about first arrival and the end of the last one's.
SELECT start_us, strftime(make_timestamp(start_us), '%G-W%V') AS week,
       (least(last_us, start_us + 604800000000) - greatest(first_us, start_us)) / 1e6 AS seconds
FROM (
  SELECT first_us, last_us,
         unnest(range(first_us - mod(mod(first_us - 345600000000, 604800000000) + 604800000000, 604800000000), last_us, 604800000000)) AS start_us
  FROM (SELECT epoch_us(min(arrival)) - mod(epoch_us(min(arrival)), 60000000) AS first_us,
               epoch_us(max(arrival)) - mod(epoch_us(max(arrival)), 60000000) + 60000000 AS last_us
        FROM attempts WHERE {range} AND {clock})
)
