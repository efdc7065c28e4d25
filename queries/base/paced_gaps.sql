-- about Chunk gaps on a known replica with their usual length (metrics.md 4.2), one row a gap. streams is how many decoded when it began; baseline_us the
-- about usual gap at that number, after_us that at the number when it ended; excess_us what exceeds it, for a chunk that carries more
-- about than is usual in proportion; waited_us the part in which some request waited for its first token, clean: less
-- about than .1 ms of it lies in prefills; batch: the class of streams. Streams that came in bursts are left out.
-- kept the stall queries and their steps read it
SELECT g.replica, request_id, attempt, arrival_us, grp, tenant, k, start_us, end_us, gap_us, g.streams, CAST(g.class AS BIGINT) AS batch, covered_us < 100 AS clean, waited_us, b.baseline_us, later.baseline_us AS after_us,
       greatest(0, gap_us - CAST(round(b.baseline_us * load) AS BIGINT)) AS excess_us
FROM placed_gaps AS g
JOIN gap_baselines AS b ON b.replica = g.replica AND b.hour_us = g.hour_us AND b.class = g.class
JOIN gap_baselines AS later ON later.replica = g.replica AND later.hour_us = g.hour_us AND later.class = g.class_after
