-- about Prompts with known prefix blocks that reached a model (not refused, nor failed before the first token), numbered by arrival: place.
-- about usable: blocks that a cache could serve at most, since the last token is always computed (metrics.md 5.2).
SELECT grp, coalesce(model_served, model, '') AS model, replica, input_tokens, cached_tokens, prefix_ids, prefix_block_tokens,
       CAST(len(prefix_ids) AS BIGINT) AS blocks,
       CAST(least(floor((input_tokens - 1) / prefix_block_tokens), len(prefix_ids)) AS BIGINT) AS usable,
       row_number() OVER (ORDER BY arrival_us NULLS LAST, request_id, attempt) AS place
FROM requests
WHERE generation AND NOT cached_response AND input_tokens >= 1 AND len(prefix_ids) >= 1
  AND (latency OR status IN ('cancelled', 'in_flight', 'unknown') OR first_us IS NOT NULL)
