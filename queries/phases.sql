-- title First token by stage
-- about What the wait for the first token is made of (metrics.md 7.1), exact percentiles a stage; within a group and told the means of the stages, each times
-- about its n, add up to that of ttft times its n: not every call tells every stage. told engine: queue and prefill by the engine's own stamps; rest: the engine's first token - queue - prefill, such as the wait for a
-- about running step; overhead: what the caller waited beyond the engine's first token; not_engine: overhead and rest, where the engine does not tell its first
-- about token. told fitted: prefill = cost of a token alone on a replica x uncached tokens, overhead = what an empty prompt costs (network and half a step),
-- about queue = what is left, 0 where the call was quicker. told unknown: neither. A call with a negative stage is in n_total only.
-- level L1
-- metric phases | ms | first token = overhead + queue + prefill + rest by the engine's stamps, else by requests that met an idle replica
-- key grp
-- key told
-- key stage
-- column n requests none
-- column n_total requests none
-- column mean ms lower
-- column p50 ms lower
-- column p90 ms lower
-- column p95 ms lower
-- column p99 ms lower
-- column p99_9 ms lower
-- column max ms lower
-- chart bar x=stage y=mean
-- quantiles stage_us 1e3
WITH
waits AS (
  SELECT grp, vantage, ttft_us, queue_us, prefill_us, engine_first_us, a_us, coalesce(alone_us, token_us) * uncached_tokens AS fitted_us,
         CASE WHEN queue_us IS NOT NULL AND prefill_us IS NOT NULL THEN 'engine' WHEN a_us IS NOT NULL AND uncached_tokens IS NOT NULL THEN 'fitted'
              ELSE 'unknown' END AS told
  FROM requests LEFT JOIN prefill_fits ON coalesce(requests.model, '') = prefill_fits.model
  WHERE latency AND ttft_us IS NOT NULL
),
split AS (
  SELECT grp, told, ttft_us * 1e0 AS ttft_us, vantage = 'engine' AS within,
         CASE told WHEN 'engine' THEN queue_us WHEN 'fitted' THEN greatest(0, ttft_us - a_us - fitted_us) END AS queue_us,
         CASE told WHEN 'engine' THEN prefill_us WHEN 'fitted' THEN greatest(0, least(fitted_us, ttft_us - a_us)) END AS prefill_us,
         CASE told WHEN 'engine' THEN engine_first_us - queue_us - prefill_us END AS rest_us,
         CASE told WHEN 'engine' THEN ttft_us - coalesce(engine_first_us, queue_us + prefill_us) WHEN 'fitted' THEN least(a_us, ttft_us) END AS overhead_us
  FROM waits
),
sound AS (
  SELECT *, coalesce(queue_us >= 0, TRUE) AND coalesce(prefill_us >= 0, TRUE) AND coalesce(rest_us >= 0, TRUE) AND coalesce(overhead_us >= 0, TRUE) AS adds_up
  FROM split
),
samples AS (
  SELECT grp, told, 'ttft' AS stage, CASE WHEN adds_up THEN ttft_us END AS stage_us FROM sound
  UNION ALL
  SELECT grp, told, 'queue', CASE WHEN adds_up THEN queue_us END FROM sound WHERE told <> 'unknown'
  UNION ALL
  SELECT grp, told, 'prefill', CASE WHEN adds_up THEN prefill_us END FROM sound WHERE told <> 'unknown'
  UNION ALL
  SELECT grp, told, 'rest', CASE WHEN adds_up THEN rest_us END FROM sound WHERE rest_us IS NOT NULL
  UNION ALL
  SELECT grp, told, CASE WHEN told = 'engine' AND rest_us IS NULL THEN 'not_engine' ELSE 'overhead' END, CASE WHEN adds_up THEN overhead_us END
  FROM sound
  WHERE told <> 'unknown' AND NOT (within AND rest_us IS NOT NULL)
)
