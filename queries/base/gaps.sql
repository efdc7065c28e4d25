-- about One row a chunk gap of requests with latency, merged by metrics.md 0.1; k counts chunks, 2 is the first gap. weight is what the chunk carries:
-- about its tokens, or, where these are unknown, the chunks that came in one read; usual_weight is the median of the stream.
SELECT request_id, attempt, arrival_us, grp, model, tenant, replica, k, gap_us, tokens, coalesce(weight, 1) AS weight, coalesce(usual_weight, 1) AS usual_weight,
       arrival_us + CAST(heads[(k + 15) // 16] + list_sum(steps[k - mod(k - 1, 16):k]) AS BIGINT) AS end_us
FROM (
  SELECT request_id, attempt, grp, model, tenant, replica, arrival_us, steps, heads, usual_weight,
         unnest(steps) AS gap_us, unnest(CASE WHEN told THEN weights END) AS tokens, unnest(weights) AS weight, CAST(generate_subscripts(steps, 1) AS BIGINT) AS k
  FROM (
    -- heads: the sum of the steps before each 16th, so that no gap adds up all those before it
    SELECT *, list_transform(range(0, len(steps), 16), lambda n: coalesce(list_sum(steps[:n]), 0)) AS heads FROM gap_lists
  )
)
WHERE k > 1
