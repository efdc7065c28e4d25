-- about Which call each row of attempts_joined is of. A step is worked out wherever it is read: windows read it once where DuckDB joins. tied are the handles that tie calls of their own, each with the least name of its calls.
tied AS (
  SELECT handle, own, min(own) OVER (PARTITION BY handle) AS name
  FROM handles
  WHERE handle IN (
    SELECT handle
    FROM handles
    GROUP BY handle
    HAVING count(DISTINCT own) > 1 AND count(DISTINCT (teller, own)) = count(DISTINCT teller) AND (handle NOT LIKE 'trace %' OR coalesce(max(from_us) <= min(till_us) + 2000000, TRUE))
  )
),
-- calls of one handle take its least name; once more, so that two handles of one call have one
named AS (
  SELECT handle, own, min(name) OVER (PARTITION BY own) AS name FROM tied
),
renamed AS (
  SELECT own, min(name) OVER (PARTITION BY handle) AS name FROM named
),
calls_of AS (
  SELECT own, min(name) AS call FROM renamed GROUP BY own
)
