-- about Sums over lost_gaps by group and tenant, with bin_us by bin of the time at which a gap began, too: streams that have such gaps, known_us the decode time
-- about of which lost_us is known. Of stalled gaps their number, those with the label prefill (stalled_gaps), and the sums over them.
-- param bin_us BIGINT
-- swept sums {bin_us} | paced_streams decode_streams prefill_windows gap_baselines stretched_windows
SELECT grp, tenant, bin_start_us, count(*) AS streams, CAST(sum(gaps) AS BIGINT) AS gaps, CAST(sum(decode_us) AS BIGINT) AS decode_us, CAST(sum(known_us) AS BIGINT) AS known_us,
       CAST(sum(excess_us) AS BIGINT) AS excess_us, CAST(sum(lost_us) AS BIGINT) AS lost_us, CAST(sum(stalled) AS BIGINT) AS stalled,
       CAST(sum(stalled_prefill) AS BIGINT) AS stalled_prefill, CAST(sum(stalled_us) AS BIGINT) AS stalled_us, CAST(sum(stalled_lost_us) AS BIGINT) AS stalled_lost_us
FROM (
  SELECT grp, tenant, start_us - mod(start_us, {bin_us}) AS bin_start_us, count(*) AS gaps, sum(gap_us) AS decode_us, sum(CASE WHEN lost_us IS NOT NULL THEN gap_us END) AS known_us,
         sum(excess_us) AS excess_us, sum(lost_us) AS lost_us, sum(CASE WHEN stalled THEN 1 ELSE 0 END) AS stalled,
         sum(CASE WHEN stalled AND excess_us >= 0.5e0 * (gap_us - baseline_us) AND lost_us >= 0.5e0 * excess_us THEN 1 ELSE 0 END) AS stalled_prefill,
         sum(CASE WHEN stalled THEN excess_us ELSE 0 END) AS stalled_us, sum(CASE WHEN stalled AND lost_us IS NOT NULL THEN lost_us ELSE 0 END) AS stalled_lost_us
  FROM lost_gaps
  GROUP BY request_id, attempt, arrival_us, grp, tenant, start_us - mod(start_us, {bin_us})
)
GROUP BY grp, tenant, bin_start_us
