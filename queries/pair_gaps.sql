-- title Chunk gaps by attempt
-- about Every chunk gap of each attempt with latency, in order, for a comparison that resamples whole requests.
-- level L2
-- key request_id
-- key attempt number
-- column gaps_us us lower
WITH
listed AS (
  SELECT request_id, attempt, array_agg(gap_us ORDER BY arrival_us, k) AS gaps_us
  FROM gaps
  GROUP BY request_id, attempt
)
SELECT request_id, attempt, gaps_us FROM listed ORDER BY request_id, attempt
