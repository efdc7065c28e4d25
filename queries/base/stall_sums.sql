-- about What stall_victims add up to, one row a request; with bin_us one a request and bin of the time at which its gaps, or its decode, began. What counts gaps
-- about is NULL for ends.
-- param bin_us BIGINT
SELECT 'chunks' AS form, request_id, attempt, arrival_us, grp, tenant, replica, bin_start_us, start_us, end_us, gaps, decode_us, excess_us, lost_us,
       stalled, stalled_prefill, stalled_us, stalled_lost_us
FROM chunk_sums
UNION ALL
SELECT 'ends', request_id, attempt, arrival_us, grp, tenant, replica, start_us - mod(start_us, {bin_us}), start_us, end_us, NULL, decode_us, NULL, lost_us,
       NULL, NULL, NULL, NULL
FROM ended_streams
