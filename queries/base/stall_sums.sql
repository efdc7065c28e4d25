-- about What stall_victims add up to by form, group and tenant, with bin_us by bin of the time at which gaps, or the decode, began, too: streams, known_us the decode
-- about time of which lost_us is known. What counts gaps is NULL for ends.
-- param bin_us BIGINT
SELECT 'chunks' AS form, grp, tenant, bin_start_us, streams, gaps, decode_us, known_us, excess_us, lost_us, stalled, stalled_prefill, stalled_us, stalled_lost_us
FROM chunk_sums
UNION ALL
SELECT 'ends', grp, tenant, bin_start_us, count(*), NULL, CAST(sum(decode_us) AS BIGINT), CAST(sum(CASE WHEN lost_us IS NOT NULL THEN decode_us END) AS BIGINT), NULL,
       CAST(sum(lost_us) AS BIGINT), NULL, NULL, NULL, NULL
FROM (SELECT *, start_us - mod(start_us, {bin_us}) AS bin_start_us FROM ended_streams)
GROUP BY grp, tenant, bin_start_us
