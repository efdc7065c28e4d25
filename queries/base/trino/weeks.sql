-- about Weeks of a log of any length.
SELECT start_us, CAST(year_of_week(from_unixtime(start_us / 1e6)) AS VARCHAR) || '-W' || lpad(CAST(week(from_unixtime(start_us / 1e6)) AS VARCHAR), 2, '0') AS week,
       nullif(least(last_us, start_us + 604800000000) - greatest(first_us, start_us), 0) / 1e6 AS seconds
FROM (
  SELECT first_us, last_us, monday_us + number * 604800000000 AS start_us
  FROM (
    SELECT first_us, last_us, first_us - mod(mod(first_us - 345600000000, 604800000000) + 604800000000, 604800000000) AS monday_us
    FROM (SELECT epoch_us(min(arrival)) AS first_us,
                 max(epoch_us(arrival) + coalesce(end_us, 0)) AS last_us
          FROM attempts WHERE {range} AND {clock})
  ) CROSS JOIN UNNEST(sequence(0, 9999)) AS numbers(number)
)
WHERE start_us <= last_us
