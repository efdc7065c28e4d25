-- title TTFT by share of cached prompt
-- about Time to the first token by the part of the prompt that came from a cache (cached tokens / input tokens, as reported): what a hit is worth, and what a
-- about miss costs. A band holds its upper bound, not its lower one. unknown: the log gives no cached tokens. Long prompts are cached more often, so look
-- about at the query lengths beside it. n_total are the calls that ended well, n those with a first token.
-- level L4
-- key cached
-- key grp
-- column n samples none
-- column n_total samples none
-- column mean ms lower
-- column p50 ms lower
-- column p90 ms lower
-- column p95 ms lower
-- column p99 ms lower
-- column p99_9 ms lower
-- column max ms lower
-- chart bar x=cached y=p50,p95,p99
-- quantiles ttft_us 1e3
WITH
samples AS (
  SELECT grp, ttft_us,
         CASE WHEN cached_tokens = 0 THEN '0 %' WHEN cached_tokens * 4 <= input_tokens THEN '0-25 %' WHEN cached_tokens * 2 <= input_tokens THEN '25-50 %'
              WHEN cached_tokens * 4 <= input_tokens * 3 THEN '50-75 %' WHEN cached_tokens * 10 <= input_tokens * 9 THEN '75-90 %'
              WHEN cached_tokens <= input_tokens THEN '90-100 %' ELSE 'unknown' END AS cached
  FROM requests
  WHERE latency
)
