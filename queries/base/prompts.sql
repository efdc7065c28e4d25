-- about Prompts of known length that reached a model (not refused, nor failed before the first token), numbered by arrival: place. blocks is NULL where
-- about the prefix is unknown. usable_tokens: what a cache could serve at most, since the last token is always computed (metrics.md 5.2): whole blocks
-- about where the log gives their size, else blocks are equal shares of the text and do not bind. whole_blocks: those that a cache can keep. seen_us: when
-- about its blocks are there at the latest: its first token, else its end. asked_model is what the views of stalls call the model.
-- once every reading would sort the requests again
SELECT grp, coalesce(model_served, model, '') AS model, coalesce(model, '') AS asked_model, replica, tenant, arrival_us,
       arrival_us + coalesce(first_us, end_us) AS seen_us, input_tokens, cached_tokens, prefix_ids, prefix_block_tokens,
       CAST(nullif(len(prefix_ids), 0) AS BIGINT) AS blocks,
       CAST(CASE WHEN prefix_exact THEN least(len(prefix_ids), floor(input_tokens / prefix_block_tokens)) ELSE len(prefix_ids) END AS BIGINT) AS whole_blocks,
       CASE WHEN prefix_exact THEN CAST(prefix_block_tokens * floor((input_tokens - 1) / prefix_block_tokens) AS BIGINT) ELSE input_tokens - 1 END AS usable_tokens,
       row_number() OVER (ORDER BY arrival_us NULLS LAST, request_id, attempt) AS place
FROM requests
WHERE generation AND NOT cached_response AND input_tokens >= 1
  AND (latency OR status IN ('cancelled', 'in_flight', 'unknown') OR first_us IS NOT NULL)
