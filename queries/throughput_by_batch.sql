-- title Throughput by batch size
-- about Decode by the number of streams that decode at once on a replica (the running batch), over streams on a known replica; prompts and first tokens are
-- about not in it. batch: exact below 8, then the start of a class of four an octave; mean_batch the mean in it. seconds: replica time at that batch, over the
-- about replicas of the group. tpot_ms: time a stream took for a token at that batch, prefills of others and all; tokens_per_s = own streams / tpot, of one
-- about replica, so that streams whose tokens are unknown count like the others (known_share: the share of stream time in which they are known). Tokens are
-- about spread over each chunk gap, or over the whole decode where chunk times are unknown. step_ms: median chunk gap without prefill (clean_gaps of them);
-- about fit_ms = d0 + d1 x mean_batch through these (metrics.md 7.2). cost_per_million: dollars a million output tokens while at that batch.
-- level L3
-- metric throughput by batch | tokens/s | tokens/s and tpot by the streams that a replica decodes at once; step = d0 + d1 x streams
-- param price_gpu_hour DOUBLE
-- param gpus_per_replica DOUBLE 1
-- key grp
-- key batch requests
-- column mean_batch requests none
-- column seconds s none
-- column time_share share none
-- column tokens_per_s tokens/s higher
-- column tpot_ms ms lower
-- column known_share share none
-- column clean_gaps gaps none
-- column step_ms ms lower
-- column fit_ms ms lower
-- column cost_per_million $ lower
-- chart line x=batch y=tokens_per_s
WITH
summed AS (
  SELECT grp, batch, sum(us) AS us, sum(level_us) AS level_us, sum(stream_us) AS stream_us, sum(known_us) AS known_us, sum(tokens) AS tokens
  FROM batch_time
  GROUP BY grp, batch
  HAVING sum(stream_us) > 0
),
paced AS (
  SELECT *, level_us * 1e0 / us AS mean_batch, known_us * 1e0 / nullif(tokens, 0) AS tpot_us, sum(us) OVER (PARTITION BY grp) AS all_us FROM summed
)
SELECT p.grp, p.batch, mean_batch, us / 1e6 AS seconds, us * 1e0 / all_us AS time_share, stream_us * 1e6 / us / tpot_us AS tokens_per_s, tpot_us / 1e3 AS tpot_ms,
       known_us * 1e0 / stream_us AS known_share, coalesce(c.n, 0) AS clean_gaps, step_us / 1e3 AS step_ms, (d0_us + d1_us * mean_batch) / 1e3 AS fit_ms,
       price_gpu_hour * gpus_per_replica / 36e8 * us * tpot_us / stream_us * 1e6 AS cost_per_million
FROM paced AS p LEFT JOIN clean_steps AS c ON c.grp = p.grp AND c.batch = p.batch LEFT JOIN step_fits AS f ON f.grp = p.grp CROSS JOIN params
ORDER BY p.grp, p.batch
