-- title System prompts
-- about What the instructions (system and developer messages, tools) cost, over calls whose input and system tokens are known (metrics.md 5.2).
-- about instruction_share = system / input tokens. repeated: system tokens beyond one copy (the largest) of each distinct prompt of a model.
-- about overhead_ratio = system / other input tokens. prefill_share: uncached part of the system tokens / uncached input tokens, where cached tokens are
-- about known (a cache holds a prompt from its start). batched_saving: share of prompt copies saved if calls with one prompt that arrive within the same
-- about batch_us shared a copy, batch_size the calls to such a copy; packed_saving: share of system tokens saved if pack calls with one prompt shared a copy, whenever they came.
-- level L4
-- metric system prompt | tokens | instruction tokens, and the share of them that repeats
-- param batch_us BIGINT 50000
-- param pack BIGINT 8
-- key grp
-- column n requests none
-- column n_total requests none
-- column prompts prompts none
-- column input_tokens tokens none
-- column system_tokens tokens none
-- column repeated_tokens tokens lower
-- column instruction_share share lower
-- column repeated_share share lower
-- column overhead_ratio ratio lower
-- column prefill_share share lower
-- column batched_saving share none
-- column batch_size requests none
-- column packed_saving share none
-- chart bar x=grp y=instruction_share,repeated_share
WITH
asked AS (
  SELECT *, system_tokens IS NOT NULL AND input_tokens IS NOT NULL AND (system_hash IS NOT NULL OR system_tokens = 0) AS known
  FROM requests
  WHERE generation AND NOT cached_response
),
totals AS (
  SELECT grp, count(*) AS n_total, count(*) FILTER (WHERE known) AS n, CAST(sum(input_tokens) FILTER (WHERE known) AS BIGINT) AS input_tokens,
         CAST(sum(system_tokens) FILTER (WHERE known) AS BIGINT) AS system_tokens,
         sum(CASE WHEN system_tokens > cached_tokens THEN system_tokens - cached_tokens ELSE 0 END) FILTER (WHERE known) AS system_uncached,
         sum(uncached_tokens) FILTER (WHERE known) AS uncached
  FROM asked
  GROUP BY grp
),
-- one row a distinct prompt; the same text counts the same everywhere unless tokens are estimated
copies AS (
  SELECT grp, model, system_hash, max(system_tokens) AS tokens, count(*) AS n,
         -- a call without a time shares with nobody
         CASE WHEN batch_us > 0 THEN count(DISTINCT arrival_us - mod(arrival_us, nullif(batch_us, 0))) + count(CASE WHEN arrival_us IS NULL THEN 1 END) END AS batches,
         -- ceil(n / pack)
         CASE WHEN pack > 0 THEN CAST((count(*) + pack - 1 - mod(count(*) + pack - 1, nullif(pack, 0))) * 1e0 / nullif(pack, 0) AS BIGINT) END AS packs
  FROM asked CROSS JOIN params
  WHERE known AND system_tokens > 0
  GROUP BY grp, model, system_hash, batch_us, pack
),
distinct_prompts AS (
  SELECT grp, count(*) AS prompts, CAST(sum(tokens) AS BIGINT) AS tokens, 1 - sum(batches) * 1e0 / sum(n) AS batched_saving, sum(n) * 1e0 / nullif(sum(batches), 0) AS batch_size,
         1 - sum(packs * tokens) * 1e0 / sum(n * tokens) AS packed_saving
  FROM copies
  GROUP BY grp
)
SELECT totals.grp, n, n_total, coalesce(prompts, 0) AS prompts, input_tokens, system_tokens,
       system_tokens - coalesce(tokens, 0) AS repeated_tokens,
       CASE WHEN input_tokens > 0 THEN system_tokens * 1e0 / input_tokens END AS instruction_share,
       CASE WHEN input_tokens > 0 THEN (system_tokens - coalesce(tokens, 0)) * 1e0 / input_tokens END AS repeated_share,
       CASE WHEN input_tokens > system_tokens THEN system_tokens * 1e0 / (input_tokens - system_tokens) END AS overhead_ratio,
       CASE WHEN uncached > 0 THEN system_uncached * 1e0 / uncached END AS prefill_share,
       batched_saving, batch_size, packed_saving
FROM totals LEFT JOIN distinct_prompts ON totals.grp = distinct_prompts.grp
ORDER BY totals.grp
