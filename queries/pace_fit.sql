-- title Decode pace under load
-- about Streams of 10 tokens or more: time a step, tokens of other requests' prompts prefilled for each step, mean number of other streams (metrics.md 4.5
-- about and 4.9). Fitted with least absolute deviations they give the cost of a prompt token to a decode. At most 1,000 of each model with, and as many
-- about without, prefills by others, evenly taken; weight restores their numbers.
-- level L3
-- key request_id
-- key attempt number
-- column model text none
-- column step_us us lower
-- column steps steps none
-- column step_tokens tokens none
-- column others requests none
-- column weight number none
WITH
ranked AS (
  SELECT *, row_number() OVER (PARTITION BY model, other_tokens > 0 ORDER BY start_us, request_id, attempt) - 1 AS place,
         count(*) OVER (PARTITION BY model, other_tokens > 0) AS n
  FROM decode_load
  WHERE steps >= 9 AND NOT estimated
),
kept AS (
  SELECT *, count(*) OVER (PARTITION BY model, other_tokens > 0) AS taken FROM ranked WHERE mod(place, CAST(ceil(n / 1e3) AS BIGINT)) = 0
)
SELECT request_id, attempt, model, decode_us * 1e0 / steps AS step_us, steps, other_tokens / steps AS step_tokens, others, n * 1e0 / taken AS weight
FROM kept
ORDER BY model, start_us, request_id, attempt
