-- about The usual length of a chunk gap (metrics.md 4.2) by replica, hour and class of streams: the median of those without prefill of the hour, of the replica, of fewer
-- about streams, of any number (the first with 30, 30, 30, 1 such gaps), else the tenth percentile of all.
SELECT c.replica, c.hour_us, c.class,
       coalesce(CASE WHEN c.n >= 30 THEN c.median_us END, CASE WHEN r.n >= 30 THEN r.median_us END,
                max(CASE WHEN r.n >= 30 THEN r.median_us END) OVER (PARTITION BY c.replica ORDER BY c.class),
                a.median_us, a.low_us) AS baseline_us
FROM gap_pools AS c
LEFT JOIN gap_pools AS r ON r.replica = c.replica AND r.hour_us IS NULL AND r.class = c.class
LEFT JOIN gap_pools AS a ON a.replica = c.replica AND a.hour_us IS NULL AND a.class IS NULL
WHERE c.hour_us IS NOT NULL
