-- about One row a token after the first chunk, where the tokens of chunks are known: a gap that brought n tokens gives n rows of gap / n.
SELECT request_id, attempt, arrival_us, grp, model, tenant, replica, k, end_us, step_us
FROM (
  SELECT *, gap_us * 1e0 / tokens AS step_us, unnest(range(tokens)) AS i
  FROM gaps
  WHERE tokens >= 1
)
