-- about One row a prefix block of a prompt that reached a model, in order: position 1 is the first. place numbers the requests by arrival (ties: id).
SELECT place, position, block, model, replica
FROM (
  SELECT place, model, replica, unnest(prefix_ids) AS block, CAST(generate_subscripts(prefix_ids, 1) AS BIGINT) AS position
  FROM prompts
)
