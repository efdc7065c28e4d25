-- title Target over time
-- about What the target's own metrics page said while a replay ran, in steps of bin_us: requests running and waiting (mean of the readings, over
-- about all engines of the page together), the share of its KV cache in use (mean over engines), requests preempted, tokens read and written by its own count, the
-- about share of prompt tokens that its prefix cache held (cached / asked for), and what a GPU exporter says. A count is the rise within the step, from
-- about the last reading before it. NULL where the page does not say. Same time axis as arrivals.
-- level L0
-- param bin_us BIGINT 10000000
-- key start_us time
-- column readings readings none
-- column running requests none
-- column waiting requests lower
-- column longest_queue requests lower
-- column cache_use share none
-- column preemptions requests lower
-- column prompt_tokens tokens none
-- column output_tokens tokens none
-- column cached_share share higher
-- column gpu_busy share none
-- column gpu_mib MiB none
-- column gpu_watts W none
-- chart line x=start_us y=running,waiting,longest_queue
WITH
-- one reading of one page: engines and GPUs add up, or are averaged
readings AS (
  SELECT endpoint, at_us, at_us - mod(at_us, (SELECT bin_us FROM params)) AS start_us, what, sum(value) AS total, avg(value) AS level, sum(rise) AS rise
  FROM target_samples
  GROUP BY endpoint, at_us, what
),
-- one page over a step
steps AS (
  SELECT endpoint, start_us, what, count(*) AS n, avg(total) AS total, max(total) AS most, avg(level) AS level, sum(rise) AS rise
  FROM readings
  GROUP BY endpoint, start_us, what
),
-- one column a meaning
wide AS (
  SELECT start_us, max(n) AS readings,
         sum(CASE WHEN what = 'running' THEN total END) AS running,
         sum(CASE WHEN what = 'waiting' THEN total END) AS waiting,
         max(CASE WHEN what = 'waiting' THEN most END) AS longest_queue,
         avg(CASE WHEN what = 'cache_use' THEN level END) AS cache_use,
         sum(CASE WHEN what = 'preemptions' THEN rise END) AS preemptions,
         sum(CASE WHEN what = 'prompt_tokens' THEN rise END) AS prompt_tokens,
         sum(CASE WHEN what = 'output_tokens' THEN rise END) AS output_tokens,
         sum(CASE WHEN what = 'asked_tokens' THEN rise END) AS asked_tokens,
         sum(CASE WHEN what = 'cached_tokens' THEN rise END) AS cached_tokens,
         avg(CASE WHEN what = 'gpu_percent' THEN level END) AS gpu_percent,
         sum(CASE WHEN what = 'gpu_mib' THEN total END) AS gpu_mib,
         sum(CASE WHEN what = 'gpu_watts' THEN total END) AS gpu_watts
  FROM steps
  GROUP BY start_us
)
SELECT start_us, readings, running, waiting, longest_queue, cache_use, preemptions, prompt_tokens, output_tokens,
       cached_tokens / nullif(coalesce(asked_tokens, prompt_tokens), 0) AS cached_share, gpu_percent / 1e2 AS gpu_busy, gpu_mib, gpu_watts
FROM wide
ORDER BY start_us
