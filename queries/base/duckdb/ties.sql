-- about Which call each row of attempts_joined is of: links are the handles that tie calls of their own.
links AS MATERIALIZED (
  SELECT handle, min(own) AS name
  FROM handles
  GROUP BY handle
  HAVING count(DISTINCT own) > 1 AND count(DISTINCT (teller, own)) = count(DISTINCT teller) AND (handle NOT LIKE 'trace %' OR coalesce(max(from_us) <= min(till_us) + 2000000, TRUE))
),
-- calls of one handle take its least name; once more, so that two handles of one call have one
named AS (
  SELECT own, min(name) AS name FROM handles JOIN links ON handles.handle = links.handle GROUP BY own
),
renamed AS (
  SELECT links.handle, min(named.name) AS name
  FROM links JOIN handles ON links.handle = handles.handle JOIN named ON handles.own = named.own
  GROUP BY links.handle
),
calls_of AS (
  SELECT own, min(renamed.name) AS call FROM handles JOIN renamed ON handles.handle = renamed.handle GROUP BY own
)
