-- about What went on while each stream decoded, known from its first token and its end alone (metrics.md 4.5, 4.9), one row a request with latency:
-- about decode_us, steps = paced tokens - 1, other_tokens = tokens of others' prompts that its replica prefilled meanwhile (by the fitted windows),
-- about others = mean number of other streams in decode.
-- swept load | decode_streams prefill_windows
WITH
windows AS (
  SELECT replica, start_us, end_us, tokens / (end_us - start_us) AS rate FROM prefill_windows
),
origins AS (
  SELECT replica, least(min(start_us), min(end_us)) AS origin_us
  FROM (SELECT replica, start_us, end_us FROM windows UNION ALL SELECT replica, start_us, end_us FROM decode_streams)
  GROUP BY replica
),
marks AS (
  SELECT replica, start_us AS at_us, 1 AS turn, rate, 0 AS change, CAST(NULL AS VARCHAR) AS request_id, CAST(NULL AS INTEGER) AS attempt, CAST(NULL AS BIGINT) AS arrival_us FROM windows
  UNION ALL SELECT replica, end_us, 0, -rate, 0, NULL, NULL, NULL FROM windows
  UNION ALL SELECT replica, start_us, 1, 0e0, 1, NULL, NULL, NULL FROM decode_streams
  UNION ALL SELECT replica, end_us, 0, 0e0, -1, NULL, NULL, NULL FROM decode_streams
  UNION ALL SELECT replica, start_us, 2, 0e0, 0, request_id, attempt, arrival_us FROM decode_streams WHERE latency
  UNION ALL SELECT replica, end_us, 3, 0e0, 0, request_id, attempt, arrival_us FROM decode_streams WHERE latency
),
-- streams in decode up to x by sums of past edges: sum(change) x - sum(change at)
levels AS (
  SELECT e.*, at_us - origin_us AS x_us, sum(rate) OVER past AS rates, lead(at_us) OVER (PARTITION BY e.replica ORDER BY at_us, turn, rate, e.request_id, attempt) - at_us AS held_us,
         sum(change) OVER past AS decoders, sum(change * (at_us - origin_us)) OVER past AS decoders_at
  FROM marks AS e JOIN origins AS o ON o.replica = e.replica
  WINDOW past AS (PARTITION BY e.replica ORDER BY at_us, turn, rate, e.request_id, attempt ROWS UNBOUNDED PRECEDING)
),
-- tokens step by step: as the difference of two products that grow with the log they would drown in rounding
swept AS (
  SELECT *, coalesce(sum(rates * held_us) OVER (PARTITION BY replica ORDER BY at_us, turn, rate, request_id, attempt ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS tokens
  FROM levels
),
spans AS (
  SELECT request_id, attempt, arrival_us, max(CASE WHEN turn = 3 THEN tokens END) - max(CASE WHEN turn = 2 THEN tokens END) AS other_tokens,
         max(CASE WHEN turn = 3 THEN decoders * x_us - decoders_at END) - max(CASE WHEN turn = 2 THEN decoders * x_us - decoders_at END) AS stream_us
  FROM swept
  WHERE turn > 1
  GROUP BY request_id, attempt, arrival_us
)
SELECT s.request_id, s.attempt, s.arrival_us, grp, tenant, model, replica, start_us, end_us, chunks, estimated, end_us - start_us AS decode_us, paced_tokens - 1 AS steps,
       -- what is left of rounding is nothing
       CASE WHEN other_tokens > 1e-3 THEN other_tokens ELSE 0e0 END AS other_tokens, stream_us * 1e0 / (end_us - start_us) - 1 AS others
FROM decode_streams AS s JOIN spans AS t ON t.request_id = s.request_id AND t.attempt = s.attempt AND t.arrival_us = s.arrival_us
