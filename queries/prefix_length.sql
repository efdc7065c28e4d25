-- title Shared prefix
-- about How long the beginning is that the prompts of a group share (metrics.md 5.1), best seen by route and model, by what the log tells. text: tokens of the most
-- about common system prompt, by its hash, and the share of calls whose system prompt is known that have it. blocks: the longest beginning of whole blocks that
-- about least_share of the prompts with block hashes have in common. Counts alone give bounds: upper_bound, the shortest input, is one for a prefix that every
-- about prompt has; lower_bound is the most common number of cached tokens, rounded down to cache_step: so much was held of that many prompts (the larger of
-- about equally common ones).
-- level L0
-- param least_share DOUBLE 0.5
-- param cache_step BIGINT 128
-- key grp
-- column n requests none
-- column n_text requests none
-- column text_tokens tokens none
-- column text_share share none
-- column n_blocks requests none
-- column blocks_tokens tokens none
-- column upper_bound tokens none
-- column n_cached requests none
-- column lower_bound tokens none
-- column lower_bound_share share none
WITH
inputs AS (
  SELECT grp, count(*) AS n, min(input_tokens) AS upper_bound, count(blocks) AS n_blocks, count(cached_tokens) AS n_cached FROM prompts GROUP BY grp
),
texts AS (
  SELECT grp, system_hash, max(system_tokens) AS tokens, count(*) AS n
  FROM requests
  WHERE generation AND NOT cached_response AND (system_tokens = 0 OR system_tokens > 0 AND system_hash IS NOT NULL)
  GROUP BY grp, system_hash
),
top_texts AS (
  SELECT *, sum(n) OVER (PARTITION BY grp) AS known, row_number() OVER (PARTITION BY grp ORDER BY n DESC, tokens DESC, system_hash) AS place FROM texts
),
-- ids are of the whole beginning, so one id is one beginning
beginnings AS (
  SELECT grp, block, max(position) AS position, min(prefix_block_tokens) AS tokens, count(*) AS n
  FROM blocks JOIN (SELECT place AS of_place, grp, whole_blocks, prefix_block_tokens FROM prompts) AS p ON p.of_place = blocks.place
  WHERE position <= whole_blocks
  GROUP BY grp, block
),
common AS (
  SELECT i.grp, CAST(round(max(position * tokens)) AS BIGINT) AS tokens
  FROM beginnings AS b JOIN inputs AS i ON i.grp = b.grp CROSS JOIN params
  WHERE b.n >= least_share * n_blocks AND b.n >= 2
  GROUP BY i.grp
),
cached AS (
  SELECT grp, cached_tokens - mod(cached_tokens, nullif(cache_step, 0)) AS tokens, count(*) AS n
  FROM prompts CROSS JOIN params
  WHERE cached_tokens IS NOT NULL AND cache_step > 0
  GROUP BY 1, 2
),
top_cached AS (
  SELECT *, row_number() OVER (PARTITION BY grp ORDER BY n DESC, tokens DESC) AS place FROM cached
)
SELECT i.grp, i.n, CAST(coalesce(known, 0) AS BIGINT) AS n_text, t.tokens AS text_tokens, t.n * 1e0 / known AS text_share, n_blocks,
       CASE WHEN n_blocks > 0 THEN coalesce(c.tokens, 0) END AS blocks_tokens, upper_bound, n_cached, m.tokens AS lower_bound, m.n * 1e0 / n_cached AS lower_bound_share
FROM inputs AS i LEFT JOIN top_texts AS t ON t.grp = i.grp AND t.place = 1 LEFT JOIN common AS c ON c.grp = i.grp
     LEFT JOIN top_cached AS m ON m.grp = i.grp AND m.place = 1
ORDER BY i.grp
