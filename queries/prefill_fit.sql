-- title Isolated requests
-- about Streamed requests whose first token cannot have waited for another request: none on the replica stood between its arrival and its first token
-- about meanwhile (metrics.md 7.1), and the cached part of the prompt is known. Their first token on uncached tokens gives the cost of a prefill. At most
-- about 200 of each power of two of uncached tokens, evenly taken; isolated is the number before that. met = anybody takes all streamed requests, at
-- about most 40 of each power of two.
-- level L3
-- param met TEXT nobody|anybody
-- key request_id
-- key attempt number
-- column model text none
-- column replica text none
-- column uncached_tokens tokens none
-- column ttft_us us lower
-- column isolated requests none
WITH
waits AS (
  SELECT request_id, attempt, coalesce(model, '') AS model, replica, arrival_us, ttft_us, uncached_tokens, latency, arrival_us + coalesce(ttft_us, end_us) AS until_us
  FROM requests
  WHERE replica IS NOT NULL AND arrival_us IS NOT NULL AND NOT cached_response
),
neighbours AS (
  SELECT *,
         max(until_us) OVER (PARTITION BY replica ORDER BY arrival_us, request_id, attempt ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_us,
         lead(arrival_us) OVER (PARTITION BY replica ORDER BY arrival_us, request_id, attempt) AS next_us
  FROM waits
),
isolated_ones AS (
  SELECT *, floor(log2(uncached_tokens)) AS octave
  FROM neighbours
  WHERE latency AND ttft_us > 0 AND uncached_tokens > 0
    AND ((SELECT met FROM params) = 'anybody' OR coalesce(before_us <= arrival_us, TRUE) AND coalesce(next_us >= until_us, TRUE))
),
ranked AS (
  SELECT *, row_number() OVER (PARTITION BY model, octave ORDER BY arrival_us, request_id, attempt) - 1 AS place,
         count(*) OVER (PARTITION BY model, octave) AS n, count(*) OVER (PARTITION BY model) AS isolated
  FROM isolated_ones
),
kept AS (
  SELECT * FROM ranked WHERE mod(place, CAST(ceil(n / CASE WHEN (SELECT met FROM params) = 'anybody' THEN 4e1 ELSE 2e2 END) AS BIGINT)) = 0
)
SELECT request_id, attempt, model, replica, uncached_tokens, ttft_us, isolated
FROM kept
ORDER BY model, uncached_tokens, ttft_us, request_id, attempt
