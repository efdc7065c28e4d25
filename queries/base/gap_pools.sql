-- about What the usual length of a chunk gap is found from: n and median of the gaps without prefill (less than .1 ms of covered time) by replica, hour and class of
-- about streams; hour_us NULL: of all hours, class NULL too: of all numbers of streams, where low_us is the tenth percentile of all gaps if there are none. A class
-- about at which gaps end but none begins has a row as well.
-- swept pools | paced_streams decode_streams prefill_windows
WITH
ends AS (
  SELECT replica, hour_us, class, gap_us, covered_us FROM placed_gaps
  UNION ALL SELECT DISTINCT replica, hour_us, class_after, CAST(NULL AS BIGINT), CAST(NULL AS BIGINT) FROM placed_gaps
)
SELECT replica, hour_us, class, count(CASE WHEN covered_us < 100 THEN 1 END) AS n, quantile_cont(gap_us, 0.5) FILTER (WHERE covered_us < 100) AS median_us,
       CASE WHEN class IS NULL AND count(CASE WHEN covered_us < 100 THEN 1 END) = 0 THEN quantile_cont(gap_us, 0.1) END AS low_us
FROM ends
GROUP BY GROUPING SETS ((replica, hour_us, class), (replica, class), (replica))
