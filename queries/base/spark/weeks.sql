-- about Weeks of a log of any length. A date has no zone, so the session's does not matter.
SELECT start_us, CAST(extract(YEAROFWEEK FROM monday) AS VARCHAR) || '-W' || lpad(CAST(extract(WEEK FROM monday) AS VARCHAR), 2, '0') AS week,
       (least(last_us, start_us + 604800000000) - greatest(first_us, start_us)) / 1e6 AS seconds
FROM (
  SELECT first_us, last_us, start_us, date_from_unix_date(CAST(start_us // 86400000000 AS INTEGER)) AS monday
  FROM (
    SELECT first_us, last_us, monday_us + number * 604800000000 AS start_us
    FROM (
      SELECT first_us, last_us, first_us - mod(mod(first_us - 345600000000, 604800000000) + 604800000000, 604800000000) AS monday_us
      FROM (SELECT epoch_us(min(arrival)) - mod(epoch_us(min(arrival)), 60000000) AS first_us,
                   epoch_us(max(arrival)) - mod(epoch_us(max(arrival)), 60000000) + 60000000 AS last_us
            FROM attempts WHERE {range} AND {clock})
    ) CROSS JOIN UNNEST(sequence(0, 9999)) AS numbers(number)
  )
  WHERE start_us < last_us
)
