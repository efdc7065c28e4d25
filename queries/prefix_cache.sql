-- title Prefix cache
-- about What a prefix cache could save and did (metrics.md 5.2), over prompts with known block hashes. ideal: input tokens that an endless cache would
-- about have had, one cache a model (fleet) or a replica; a block is there from the arrival of the first prompt that has it. realised: cached tokens as
-- about reported / input tokens. efficiency = realised / ideal of the fleet, missed: ideal beyond what was cached, call by call; both over calls that report it.
-- level L4
-- key grp
-- column n requests none
-- column input_tokens tokens none
-- column ideal_fleet_tokens tokens none
-- column ideal_fleet share none
-- column ideal_replica_tokens tokens none
-- column ideal_replica share none
-- column n_reported requests none
-- column realised_tokens tokens higher
-- column realised share higher
-- column efficiency share higher
-- column missed_tokens tokens lower
WITH
-- the first prompt that had a block, in the fleet and on a replica
first_seen AS (
  SELECT model, block, min(place) AS place FROM blocks GROUP BY model, block
),
first_on_replica AS (
  SELECT model, replica, block, min(place) AS place FROM blocks WHERE replica IS NOT NULL GROUP BY model, replica, block
),
-- position of the first block that nobody had before
misses AS (
  SELECT b.place, min(CASE WHEN f.place = b.place THEN position END) AS fleet, min(CASE WHEN r.place = b.place THEN position END) AS replica
  FROM blocks AS b
  JOIN first_seen AS f ON b.model = f.model AND b.block = f.block
  LEFT JOIN first_on_replica AS r ON b.model = r.model AND b.replica = r.replica AND b.block = r.block
  GROUP BY b.place
),
hits AS (
  SELECT p.grp, p.replica, input_tokens, cached_tokens, prefix_block_tokens * least(coalesce(fleet - 1, blocks), usable) AS fleet_hit,
         CASE WHEN p.replica IS NOT NULL THEN prefix_block_tokens * least(coalesce(m.replica - 1, blocks), usable) END AS replica_hit
  FROM prompts AS p JOIN misses AS m ON p.place = m.place
),
summed AS (
  SELECT grp, count(*) AS n, CAST(sum(input_tokens) AS BIGINT) AS input_tokens, sum(fleet_hit) AS ideal_fleet_tokens,
         sum(replica_hit) AS ideal_replica_tokens, sum(CASE WHEN replica IS NOT NULL THEN input_tokens END) AS placed_tokens,
         count(cached_tokens) AS n_reported, CAST(sum(cached_tokens) AS BIGINT) AS realised_tokens,
         sum(CASE WHEN cached_tokens IS NOT NULL THEN input_tokens END) AS reported_input,
         sum(CASE WHEN cached_tokens IS NOT NULL THEN fleet_hit END) AS reported_ideal,
         sum(CASE WHEN fleet_hit > cached_tokens THEN fleet_hit - cached_tokens WHEN cached_tokens IS NOT NULL THEN 0 END) AS missed_tokens
  FROM hits
  GROUP BY grp
)
SELECT grp, n, input_tokens, ideal_fleet_tokens, ideal_fleet_tokens / input_tokens AS ideal_fleet, ideal_replica_tokens,
       ideal_replica_tokens / placed_tokens AS ideal_replica, n_reported, realised_tokens, realised_tokens * 1e0 / reported_input AS realised,
       CASE WHEN reported_ideal > 0 THEN realised_tokens / reported_ideal END AS efficiency, missed_tokens
FROM summed
ORDER BY grp
