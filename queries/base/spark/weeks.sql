-- about Weeks of a log of any length. A date has no zone, so the session's does not matter.
SELECT start_us, CAST(extract(YEAROFWEEK FROM monday) AS VARCHAR) || '-W' || lpad(CAST(extract(WEEK FROM monday) AS VARCHAR), 2, '0') AS week,
       nullif(least(last_us, start_us + 604800000000) - greatest(first_us, start_us), 0) / 1e6 AS seconds
FROM (
  SELECT first_us, last_us, start_us, date_from_unix_date(CAST(start_us // 86400000000 AS INTEGER)) AS monday
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
)
