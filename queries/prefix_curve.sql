-- title Prefix cache by size
-- about What a prefix cache of cache_blocks blocks that drops the least recently used would have held (metrics.md 5.2), exact for each size; unknown: an
-- about endless one. shared: one cache a model for the whole fleet, one for each replica (of cache_blocks blocks each), or one for each tenant. Blocks that running
-- about requests hold are not in cache_blocks. visible: a prompt's blocks are there from its arrival on, or from its first token on (else its end).
-- about hit_rate = hit / input tokens. written: tokens of whole blocks that the cache lacked. missed: hits beyond what was cached, call by call; efficiency =
-- about cached / hit; both over calls that report cached tokens (n_reported), like all that follows. missed_s = cost of a prompt token alone on a replica x
-- about missed; ttft_saving_ms: that cost x (hit - cached) a call. gpu_cost = missed_s / 3600 x price_gpu_hour x gpus_per_replica. api_cost = missed x (price_in -
-- about price_cached) - written x (price_write - price_in), prices a million tokens; without price_write writing is free.
-- level L4
-- metric prefix cache by size | share | what an LRU of any number of blocks would have held (fleet, each replica or tenant); missed tokens as seconds, GPU and API dollars
-- param shared TEXT fleet|replica|tenant
-- param visible TEXT arrival|first_token
-- param sizes TEXT
-- param price_gpu_hour DOUBLE
-- param gpus_per_replica DOUBLE 1
-- param price_in DOUBLE
-- param price_cached DOUBLE
-- param price_write DOUBLE
-- key grp
-- key cache_blocks blocks
-- column n_total requests none
-- column n requests none
-- column input_tokens tokens none
-- column hit_tokens tokens none
-- column hit_rate share none
-- column written_tokens tokens none
-- column n_reported requests none
-- column efficiency share higher
-- column missed_tokens tokens lower
-- column missed_s s lower
-- column ttft_saving_ms ms none
-- column gpu_cost $ lower
-- column api_cost $ lower
-- chart line x=cache_blocks y=hit_rate
WITH
summed AS (
  SELECT grp, cache_blocks, CAST(sum(n_total) AS BIGINT) AS n_total, CAST(sum(n) AS BIGINT) AS n, CAST(sum(input) AS BIGINT) AS input_tokens,
         CAST(sum(hit) AS BIGINT) AS hit_tokens, CAST(sum(written) AS BIGINT) AS written_tokens, CAST(sum(reported) AS BIGINT) AS n_reported,
         sum(reported_hit) AS reported_hit, sum(cached) AS cached, CAST(sum(missed) AS BIGINT) AS missed_tokens,
         -- unknown as soon as one model's cost is
         CASE WHEN sum(CASE WHEN token_us IS NULL THEN reported ELSE 0 END) = 0 THEN sum(coalesce(alone_us, token_us) * missed) END AS missed_us,
         CASE WHEN sum(CASE WHEN token_us IS NULL THEN reported ELSE 0 END) = 0 THEN sum(coalesce(alone_us, token_us) * (reported_hit - cached)) END AS saving_us
  FROM prefix_curves LEFT JOIN prefill_fits ON prefix_curves.model = prefill_fits.model
  GROUP BY grp, cache_blocks
)
SELECT grp, cache_blocks, n_total, n, CASE WHEN n > 0 THEN input_tokens END AS input_tokens, CASE WHEN n > 0 THEN hit_tokens END AS hit_tokens,
       hit_tokens * 1e0 / nullif(input_tokens, 0) AS hit_rate, CASE WHEN n > 0 THEN written_tokens END AS written_tokens, n_reported,
       cached * 1e0 / nullif(reported_hit, 0) AS efficiency, CASE WHEN n_reported > 0 THEN missed_tokens END AS missed_tokens,
       CASE WHEN n_reported > 0 THEN missed_us / 1e6 END AS missed_s, saving_us / 1e3 / nullif(n_reported, 0) AS ttft_saving_ms,
       CASE WHEN n_reported > 0 THEN missed_us / 36e8 * price_gpu_hour * gpus_per_replica END AS gpu_cost,
       CASE WHEN n_reported > 0 THEN (missed_tokens * (price_in - price_cached)
         - CASE WHEN price_write IS NULL THEN 0 ELSE written_tokens * (price_write - price_in) END) / 1e6 END AS api_cost
FROM summed CROSS JOIN params
ORDER BY grp, cache_blocks NULLS LAST
