-- title Prefix cache
-- about What a prefix cache could save and did (metrics.md 5.2), over prompts that reached a model. ideal: input tokens that an endless cache would have
-- about had, one cache a model (fleet) or a replica; a block is there from the arrival of the first prompt that has it. realised: cached tokens as reported
-- about / input tokens, where reported. efficiency = realised / ideal of the fleet, missed: ideal beyond what was cached, call by call; both over calls that
-- about know both. An engine whose blocks are smaller than the log's, or warm before the log began, comes above 100 %.
-- level L4
-- metric prefix cache | share | ideal (endless cache, chained blocks in order of arrival), realised (cached tokens reported), efficiency
-- key grp
-- column n_total requests none
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
-- chart bar x=grp y=ideal_fleet,realised
WITH
-- each block at the first prompt that had it, in the fleet and on a replica
first_in_fleet AS (
  SELECT min(place) AS place, min_by(position, place * 1048576 + position) AS position FROM blocks GROUP BY model, block
),
first_on_replica AS (
  SELECT min(place) AS place, min_by(position, place * 1048576 + position) AS position
  FROM blocks
  WHERE replica IS NOT NULL
  GROUP BY model, replica, block
),
-- leading blocks that somebody had before: those in front of the first that is new; a prompt without a new block is not here
fleet AS (
  SELECT place, min(position) - 1 AS had FROM first_in_fleet GROUP BY place
),
own AS (
  SELECT place, min(position) - 1 AS had FROM first_on_replica GROUP BY place
),
hits AS (
  SELECT grp, input_tokens, cached_tokens, blocks,
         CASE WHEN blocks >= 1 THEN least(CAST(round(prefix_block_tokens * coalesce(fleet.had, blocks)) AS BIGINT), usable_tokens) END AS fleet_hit,
         CASE WHEN blocks >= 1 AND replica IS NOT NULL
              THEN least(CAST(round(prefix_block_tokens * coalesce(own.had, blocks)) AS BIGINT), usable_tokens) END AS replica_hit
  FROM prompts LEFT JOIN fleet ON prompts.place = fleet.place LEFT JOIN own ON prompts.place = own.place
),
summed AS (
  SELECT grp, count(*) AS n_total, count(fleet_hit) AS n, CAST(sum(CASE WHEN blocks >= 1 THEN input_tokens END) AS BIGINT) AS input_tokens,
         CAST(sum(fleet_hit) AS BIGINT) AS fleet_hit, CAST(sum(replica_hit) AS BIGINT) AS replica_hit,
         sum(CASE WHEN replica_hit IS NOT NULL THEN input_tokens END) AS placed_tokens,
         count(cached_tokens) AS n_reported, CAST(sum(cached_tokens) AS BIGINT) AS cached,
         sum(CASE WHEN cached_tokens IS NOT NULL THEN input_tokens END) AS reported_input,
         sum(CASE WHEN cached_tokens IS NOT NULL THEN fleet_hit END) AS known_ideal, sum(CASE WHEN blocks >= 1 THEN cached_tokens END) AS known_cached,
         CAST(sum(CASE WHEN fleet_hit > cached_tokens THEN fleet_hit - cached_tokens WHEN fleet_hit <= cached_tokens THEN 0 END) AS BIGINT) AS missed
  FROM hits
  GROUP BY grp
)
SELECT grp, n_total, n, input_tokens, fleet_hit AS ideal_fleet_tokens, fleet_hit * 1e0 / input_tokens AS ideal_fleet, replica_hit AS ideal_replica_tokens,
       replica_hit * 1e0 / placed_tokens AS ideal_replica, n_reported, cached AS realised_tokens, cached * 1e0 / reported_input AS realised,
       CASE WHEN known_ideal > 0 THEN known_cached * 1e0 / known_ideal END AS efficiency, missed AS missed_tokens
FROM summed
ORDER BY grp
