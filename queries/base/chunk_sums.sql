-- about Sums over lost_gaps, one row a request; with bin_us one a request and bin of the time at which a gap began. Of stalled gaps their number, those with
-- about the label prefill (stalled_gaps), and the sums over them.
-- param bin_us BIGINT
-- swept sums {bin_us} | paced_streams decode_streams prefill_windows gap_baselines stretched_windows
SELECT request_id, attempt, arrival_us, grp, tenant, replica, start_us - mod(start_us, {bin_us}) AS bin_start_us, min(start_us) AS start_us, max(end_us) AS end_us,
       count(*) AS gaps, CAST(sum(gap_us) AS BIGINT) AS decode_us, CAST(sum(excess_us) AS BIGINT) AS excess_us, CAST(sum(lost_us) AS BIGINT) AS lost_us,
       sum(CASE WHEN stalled THEN 1 ELSE 0 END) AS stalled,
       sum(CASE WHEN stalled AND excess_us >= 0.5e0 * (gap_us - baseline_us) AND lost_us >= 0.5e0 * excess_us THEN 1 ELSE 0 END) AS stalled_prefill,
       CAST(sum(CASE WHEN stalled THEN excess_us ELSE 0 END) AS BIGINT) AS stalled_us,
       CAST(sum(CASE WHEN stalled AND lost_us IS NOT NULL THEN lost_us ELSE 0 END) AS BIGINT) AS stalled_lost_us
FROM lost_gaps
GROUP BY request_id, attempt, arrival_us, grp, tenant, replica, start_us - mod(start_us, {bin_us})
