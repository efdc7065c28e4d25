-- about Decode time and the part of it lost to other requests' prefills, one row a chunk gap (form chunks), or a request where only its first token and end
-- about are known (form ends: cost of a token under load x tokens prefilled meanwhile, metrics.md 4.5 and 4.9). lost_us is NULL where prefill is unknown.
-- about by_time and by_token share it out: of each microsecond of a window's share, of each token of a window as fitted.
WITH
ends AS (
  SELECT d.*, CASE WHEN pace_us IS NOT NULL
                   THEN CAST(round(least(decode_us * 1e0, greatest(0e0, pace_us + load_us * others) * other_tokens)) AS BIGINT) END AS lost_us
  FROM decode_load AS d LEFT JOIN prefill_fits AS f ON f.model = d.model
  WHERE chunks IS NULL OR NOT {chunk_times}
)
SELECT 'chunks' AS form, request_id, attempt, grp, tenant, replica, start_us, end_us, gap_us AS decode_us, excess_us,
       lost_us, stalled, label, CASE WHEN lost_us > 0 THEN lost_us * 1e0 / overlap_us ELSE 0e0 END AS by_time, 0e0 AS by_token
FROM stall_gaps
UNION ALL
SELECT 'ends', request_id, attempt, grp, tenant, replica, start_us, end_us, decode_us, NULL,
       lost_us, NULL, NULL, 0e0, CASE WHEN lost_us > 0 THEN lost_us / other_tokens ELSE 0e0 END
FROM ends
