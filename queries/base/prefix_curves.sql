-- about What caches of many sizes would have held of the prompts (metrics.md 5.2), one row a group, asked model and size; cache_blocks NULL: endless.
-- about Analyze works it out, for SQL cannot see in one pass what a cache of each size has dropped. Sums: n prompts with blocks and a cache to go to, of
-- about input tokens of which hit were held and written were not though they fill whole blocks; of these with a count of cached tokens: reported, their
-- about reported_hit, cached, and missed (hit beyond cached, call by call).
-- param curves TEXT
SELECT unnest(from_json(coalesce({curves}, '[]'), '[{"grp": "VARCHAR", "model": "VARCHAR", "cache_blocks": "BIGINT", "n_total": "BIGINT", "n": "BIGINT", "input": "BIGINT", "hit": "BIGINT", "written": "BIGINT", "reported": "BIGINT", "reported_hit": "BIGINT", "cached": "BIGINT", "missed": "BIGINT"}]'), recursive := TRUE)
