-- title TTFT by turn
-- about Time to the first token by turn of the conversation: what a prefix cache, a router that keeps sessions together, or a prefill pool does to turn 2 and
-- about later. One row a call as its caller saw it; turns from 9 on stand together: 9 is 9 to 16, 17 is 17 to 32, 33 all after. told is log where the log
-- about has the number; counted where the turn is the place in the session by order of arrival: turns before the range asked for are not counted, nor
-- about are calls without a session. n_total are the calls that ended well, n those with a first token.
-- level L1
-- key told
-- key grp
-- key turn number
-- column n samples none
-- column n_total samples none
-- column mean ms lower
-- column p50 ms lower
-- column p90 ms lower
-- column p95 ms lower
-- column p99 ms lower
-- column p99_9 ms lower
-- column max ms lower
-- chart bar x=turn y=p50,p95,p99
-- quantiles ttft_us 1e3
WITH
numbered AS (
  SELECT grp, latency, ttft_us, CASE WHEN turn IS NOT NULL THEN 'log' ELSE 'counted' END AS told,
         coalesce(turn, row_number() OVER (PARTITION BY session_id ORDER BY arrival_us, request_id, attempt)) AS turn
  FROM callers
  WHERE session_id IS NOT NULL AND generation AND (turn IS NOT NULL OR arrival_us IS NOT NULL)
),
samples AS (
  SELECT told, grp, CASE WHEN turn <= 8 THEN turn WHEN turn <= 16 THEN 9 WHEN turn <= 32 THEN 17 ELSE 33 END AS turn, ttft_us
  FROM numbered
  WHERE latency
)
