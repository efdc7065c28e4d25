-- about Streams that something on the way held back and let go in bursts (metrics.md 4.2, ANA-19), one row a request: 8 or more tokens a chunk at the
-- about median, while tokens come at the pace of the replica's other streams (within 3 x of their median), or all in one burst. They say nothing about
-- about gaps or stalls.
WITH
streams AS (
  SELECT request_id, attempt, arrival_us, grp, coalesce(replica, '') AS replica, tpot_us, usual_weight >= 8 AS bursts FROM stream_shapes
  WHERE latency AND streamed AND chunks >= 2
),
paces AS (
  SELECT replica, quantile_cont(tpot_us, 0.5) AS pace_us FROM streams WHERE coalesce(NOT bursts, TRUE) GROUP BY replica
)
SELECT request_id, attempt, arrival_us, grp
FROM streams AS s LEFT JOIN paces AS p ON p.replica = s.replica
WHERE bursts AND coalesce(tpot_us BETWEEN pace_us / 3 AND pace_us * 3, TRUE)
UNION ALL
SELECT request_id, attempt, arrival_us, grp FROM stream_shapes WHERE latency AND streamed AND chunks = 1 AND output_tokens >= 8
