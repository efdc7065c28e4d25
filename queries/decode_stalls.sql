-- title Decode time lost to other requests' prefills
-- about A step of an engine serves all running requests, so a long prompt holds every stream of its replica. Form chunks: each chunk gap above the usual
-- about one has an excess; lost is the part of it in which the replica prefilled other requests (metrics.md 4.2, 4.3 and 4.9). Form ends: estimated from
-- about start, first token and end alone, as the cost of a prompt token under load times the tokens of others prefilled meanwhile; gaps are unknown.
-- about Form buffered: streams that came in bursts, which say nothing. A stalled gap is over 3 x the usual one and 100 ms above it. With bin_us one row
-- about a bin of the time at which the gap, or the decode, began. NULL: the cost of a prefill is not known.
-- level L3
-- metric decode stall | s | excess of a chunk gap over the usual gap at that number of streams, as far as other requests' prefills cover it; from start, first and end alone it is estimated, and says so
-- param bin_us BIGINT
-- key grp
-- key form
-- key start_us time
-- column streams requests none
-- column decode_s s none
-- column excess_s s lower
-- column lost_s s lower
-- column lost_share share lower
-- column gap_count gaps none
-- column stalled gaps lower
-- column stalled_prefill gaps lower
-- column stalled_s s lower
-- column stalled_prefill_s s lower
-- chart line x=start_us y=lost_s,excess_s
WITH
summed AS (
  SELECT grp, form, bin_start_us, CAST(sum(streams) AS BIGINT) AS streams, sum(decode_us) AS decode_us, sum(excess_us) AS excess_us, sum(lost_us) AS lost_us,
         sum(known_us) AS known_us, sum(gaps) AS looked, sum(stalled) AS stalled, sum(stalled_prefill) AS stalled_prefill,
         sum(stalled_us) AS stalled_us, sum(stalled_lost_us) AS stalled_lost_us
  FROM stall_sums
  GROUP BY grp, form, bin_start_us
),
rows_out AS (
  SELECT grp, form, bin_start_us AS start_us, streams, decode_us / 1e6 AS decode_s, excess_us / 1e6 AS excess_s, lost_us / 1e6 AS lost_s,
         CASE WHEN known_us > 0 THEN lost_us * 1e0 / known_us END AS lost_share,
         CAST(looked AS BIGINT) AS gap_count, CAST(stalled AS BIGINT) AS stalled, CASE WHEN lost_us IS NOT NULL THEN CAST(stalled_prefill AS BIGINT) END AS stalled_prefill,
         stalled_us / 1e6 AS stalled_s, CASE WHEN lost_us IS NOT NULL THEN stalled_lost_us / 1e6 END AS stalled_prefill_s
  FROM summed
  UNION ALL
  SELECT grp, 'buffered', NULL, count(*), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM buffered GROUP BY grp
)
SELECT grp, form, start_us, streams, decode_s, excess_s, lost_s, lost_share, gap_count, stalled, stalled_prefill, stalled_s, stalled_prefill_s
FROM rows_out
ORDER BY grp, form, start_us NULLS LAST
