-- about Streams whose chunk gaps say something of the pace of their replica: those of gap_lists on a known replica, at a known time, that did not come in bursts.
-- param chunk_times BOOLEAN true
SELECT g.request_id, g.attempt, g.grp, coalesce(tenant, {unnamed}) AS tenant, g.replica, g.arrival_us, steps, weights, usual_weight
FROM gap_lists AS g LEFT JOIN buffered AS b ON b.request_id = g.request_id AND b.attempt = g.attempt AND b.arrival_us = g.arrival_us
WHERE g.replica IS NOT NULL AND g.arrival_us IS NOT NULL AND b.request_id IS NULL AND {chunk_times}
