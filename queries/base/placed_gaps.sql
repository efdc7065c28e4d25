-- about Chunk gaps of paced_streams among what else went on on their replica, one row a gap. streams is how many decoded when it began, streams_after when it ended,
-- about class and class_after the classes of these numbers (exact to 8, then four an octave, from 64 on steps of 16); covered_us the part in prefill_windows,
-- about waited_us that in which some request waited for its first token, load how much more than usual its chunk carries, hour_us its hour of the replica's log.
WITH
seen AS (
  SELECT request_id, attempt, arrival_us, grp, coalesce(tenant, {unnamed}) AS tenant, replica, k, gap_us, end_us - gap_us AS start_us, end_us,
         greatest(1e0, weight / nullif(usual_weight, 0)) AS load
  FROM gaps SEMI JOIN paced_streams USING (request_id, attempt, arrival_us) WHERE end_us IS NOT NULL
),
-- fresh_us is what a window adds to the time that those which began before it cover, waited_us the same from the arrival on
edges AS (
  SELECT replica, start_us AS at_us, 0 AS change, end_us AS until_us, NULL AS waiting_us, 0 AS waited_us,
         greatest(0, end_us - greatest(start_us, coalesce(max(end_us) OVER (PARTITION BY replica ORDER BY start_us, end_us, request_id, attempt
                                                                           ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), start_us))) AS fresh_us
  FROM prefill_windows
  UNION ALL
  SELECT replica, arrival_us, 0, NULL, end_us,
         greatest(0, end_us - greatest(arrival_us, coalesce(max(end_us) OVER (PARTITION BY replica ORDER BY arrival_us, end_us, request_id, attempt
                                                                             ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), arrival_us))), 0
  FROM prefill_windows
  UNION ALL SELECT replica, start_us, 1, NULL, NULL, 0, 0 FROM decode_streams
  UNION ALL SELECT replica, end_us, -1, NULL, NULL, 0, 0 FROM decode_streams
),
steps AS (
  SELECT replica, at_us, sum(change) AS change, max(until_us) AS until_us, sum(fresh_us) AS fresh_us, max(waiting_us) AS waiting_us, sum(waited_us) AS waited_us
  FROM edges
  GROUP BY replica, at_us
),
-- time covered up to x: that of the windows begun, less what of it comes after x
levels AS (
  SELECT replica, at_us, CAST(sum(change) OVER past AS BIGINT) AS streams,
         coalesce(max(until_us) OVER past, 0) AS until_us, CAST(sum(fresh_us) OVER past AS BIGINT) AS fresh_us,
         coalesce(max(waiting_us) OVER past, 0) AS waiting_us, CAST(sum(waited_us) OVER past AS BIGINT) AS waited_us
  FROM steps
  WINDOW past AS (PARTITION BY replica ORDER BY at_us ROWS UNBOUNDED PRECEDING)
),
placed AS (
  {placed}
),
origins AS (
  SELECT replica, min(start_us) AS origin_us FROM decode_streams GROUP BY replica
)
-- exact numbers of streams up to 8, then four classes an octave
SELECT p.*, start_us - mod(start_us - origin_us, 3600000000) AS hour_us,
       CASE WHEN streams < 8 THEN streams WHEN streams < 16 THEN streams - mod(streams, 2) WHEN streams < 32 THEN streams - mod(streams, 4)
            WHEN streams < 64 THEN streams - mod(streams, 8) ELSE streams - mod(streams, 16) END AS class,
       CASE WHEN streams_after < 8 THEN streams_after WHEN streams_after < 16 THEN streams_after - mod(streams_after, 2)
            WHEN streams_after < 32 THEN streams_after - mod(streams_after, 4) WHEN streams_after < 64 THEN streams_after - mod(streams_after, 8)
            ELSE streams_after - mod(streams_after, 16) END AS class_after
FROM placed AS p JOIN origins AS o ON o.replica = p.replica
