-- about Chunk gaps as they were and without the time lost to others' prefills, equal ones of a group counted together: variant observed or without prefill, gap_us
-- about (NULL where what is lost is unknown), gaps.
-- swept counts | paced_streams decode_streams prefill_windows gap_baselines stretched_windows
SELECT grp, 'observed' AS variant, gap_us, count(*) AS gaps FROM lost_gaps GROUP BY grp, gap_us
UNION ALL
SELECT grp, 'without prefill', gap_us - lost_us, count(*) FROM lost_gaps GROUP BY grp, gap_us - lost_us
