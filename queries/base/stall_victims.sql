-- about Decode time and the part of it lost to other requests' prefills, one row a chunk gap (form chunks), or a request where only its first token and end
-- about are known (form ends). lost_us is NULL where prefill is unknown.
SELECT 'chunks' AS form, request_id, attempt, grp, tenant, replica, start_us, end_us, gap_us AS decode_us, excess_us, lost_us, stalled, label FROM stall_gaps
UNION ALL
SELECT 'ends', request_id, attempt, grp, tenant, replica, start_us, end_us, decode_us, NULL, lost_us, NULL, NULL FROM ended_streams
