-- about Time by the number of streams in decode on a replica, one row a group, replica and class of that number (exact below 8, then four classes an
-- about octave, from 64 on steps of 16; streams of all groups count). us: time; level_us: that times the number; stream_us: time of the group's own streams;
-- about known_us: of those whose tokens are known, tokens: what they decoded, spread over each chunk gap, or over the whole decode where chunk times are unknown or
-- about came in bursts; context_us: time of streams with known input, context: that times their input and half their output.
-- swept batch | decoded
WITH
pieces AS (
  SELECT d.grp, d.replica, g.end_us - gap_us AS start_us, g.end_us, coalesce(tokens, (paced_tokens - 1) * 1e0 / (chunks - 1)) AS tokens, context
  FROM gaps AS g JOIN decoded AS d ON d.request_id = g.request_id AND d.attempt = g.attempt AND d.arrival_us = g.arrival_us
  WHERE chunked AND gap_us > 0
  UNION ALL
  SELECT grp, replica, start_us, end_us, paced_tokens - 1, context FROM decoded WHERE NOT chunked
),
-- rate: tokens a microsecond, in whole parts of 1e18, so that nothing is left of a rate that came and went
-- the edges of a group: its own pieces, and when others on its replicas begin and end to decode
edges AS (
  SELECT of_grp AS grp, d.replica, start_us AS at_us, 1 AS change, 0 AS own, 0 AS known, CAST(0 AS HUGEINT) AS rate, 0 AS sized, 0e0 AS context
  FROM decoded AS d JOIN (SELECT DISTINCT grp AS of_grp, replica FROM decoded) AS o ON o.replica = d.replica
  UNION ALL
  SELECT of_grp, d.replica, end_us, -1, 0, 0, 0, 0, 0
  FROM decoded AS d JOIN (SELECT DISTINCT grp AS of_grp, replica FROM decoded) AS o ON o.replica = d.replica
  UNION ALL
  SELECT grp, replica, start_us, 0, 1, CASE WHEN tokens >= 0 THEN 1 ELSE 0 END, CAST(round(coalesce(tokens * 1e18 / (end_us - start_us), 0)) AS HUGEINT),
         CASE WHEN context >= 0 THEN 1 ELSE 0 END, coalesce(context, 0)
  FROM pieces
  UNION ALL
  SELECT grp, replica, end_us, 0, -1, CASE WHEN tokens >= 0 THEN -1 ELSE 0 END, -CAST(round(coalesce(tokens * 1e18 / (end_us - start_us), 0)) AS HUGEINT),
         CASE WHEN context >= 0 THEN -1 ELSE 0 END, -coalesce(context, 0)
  FROM pieces
),
swept AS (
  SELECT grp, replica,
         lead(at_us) OVER (PARTITION BY grp, replica ORDER BY at_us, change, own, known, rate, sized, context) - at_us AS us, sum(change) OVER past AS streams, sum(own) OVER past AS own, sum(known) OVER past AS known,
         sum(rate) OVER past / 1e18 AS rate, sum(sized) OVER past AS sized, sum(context) OVER past AS context
  FROM edges
  WINDOW past AS (PARTITION BY grp, replica ORDER BY at_us, change, own, known, rate, sized, context ROWS UNBOUNDED PRECEDING)
),
classed AS (
  SELECT *, CASE WHEN streams < 8 THEN streams WHEN streams < 16 THEN streams - mod(streams, 2) WHEN streams < 32 THEN streams - mod(streams, 4)
                 WHEN streams < 64 THEN streams - mod(streams, 8) ELSE streams - mod(streams, 16) END AS batch
  FROM swept
  WHERE us > 0 AND streams > 0
)
SELECT grp, replica, CAST(batch AS BIGINT) AS batch, CAST(sum(us) AS BIGINT) AS us, CAST(sum(us * streams) AS BIGINT) AS level_us,
       CAST(sum(us * own) AS BIGINT) AS stream_us, CAST(sum(us * known) AS BIGINT) AS known_us, sum(CASE WHEN known > 0 THEN us * rate END ORDER BY us * rate) AS tokens,
       CAST(sum(us * sized) AS BIGINT) AS context_us, sum(CASE WHEN sized > 0 THEN us * context END ORDER BY us * context) AS context
FROM classed
GROUP BY grp, replica, batch
