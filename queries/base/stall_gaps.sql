-- about Chunk gaps with what is known of their cause (metrics.md 4.2, 4.3), one row a gap: lost_gaps, and where the gap stalled its label and coverage, the share of
-- about the replica's streams that stood still in its middle.
SELECT g.*, coverage, label
FROM lost_gaps AS g LEFT JOIN stalled_gaps AS s ON s.request_id = g.request_id AND s.attempt = g.attempt AND s.arrival_us = g.arrival_us AND s.k = g.k
