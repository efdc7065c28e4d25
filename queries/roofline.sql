-- title Hardware limits
-- about Decode and prefill against the limits of the hardware (metrics.md 7.2), by the number of streams in decode on a replica (as throughput_by_batch), and over
-- about all of that time (batch unknown). Peaks are those of gpus_per_replica GPUs. context_tokens: mean tokens of context (input and half the output) of
-- about all streams at once. kv_bytes_per_token = 2 x layers x kv_heads x head_dim x kv_dtype_bytes. mbu = (weight_bytes + context x that) / (tpot x bandwidth);
-- about mbu_clean: with the median step without prefill instead of tpot. floor_tpot_ms = weight_bytes / bandwidth. mfu_decode, mfu_prefill = 2 x active_params x tokens a second
-- about / peak FLOP/s, the prefill's rate that of a token alone on a replica. intensity: FLOP a byte of a decode step; under ridge = FLOP/s / bandwidth memory is the
-- about limit. max_batch: streams of the mean context that fit into memory_share of the memory beside the weights. shared_saving_gb: read less a step if
-- about shared_streams streams read a common prefix of shared_tokens once.
-- level L3
-- metric roofline | share | bandwidth and FLOP utilisation, floor tpot, ridge, batch that fits into memory
-- param gpu_flops DOUBLE
-- param gpu_bandwidth DOUBLE
-- param gpu_memory DOUBLE
-- param gpus_per_replica DOUBLE 1
-- param weight_bytes DOUBLE
-- param active_params DOUBLE
-- param layers DOUBLE
-- param kv_heads DOUBLE
-- param head_dim DOUBLE
-- param kv_dtype_bytes DOUBLE
-- param memory_share DOUBLE 0.9
-- param shared_tokens DOUBLE
-- param shared_streams DOUBLE
-- key grp
-- key batch requests
-- column seconds s none
-- column tokens_per_s tokens/s higher
-- column tpot_ms ms lower
-- column step_ms ms lower
-- column floor_tpot_ms ms none
-- column context_tokens tokens none
-- column kv_bytes_per_token bytes none
-- column mbu share higher
-- column mbu_clean share higher
-- column mfu_decode share higher
-- column prefill_per_s tokens/s higher
-- column mfu_prefill share higher
-- column intensity FLOP/B none
-- column ridge FLOP/B none
-- column max_batch requests higher
-- column shared_saving_gb GB none
WITH
classes AS (
  SELECT grp, batch, us, level_us, stream_us, known_us, tokens, context_us, context FROM batch_time
  UNION ALL
  SELECT grp, CAST(NULL AS BIGINT), us, level_us, stream_us, known_us, tokens, context_us, context FROM batch_time
),
summed AS (
  SELECT grp, batch, sum(us) AS us, sum(level_us) * 1e0 / sum(us) AS streams, sum(stream_us) * 1e0 / sum(us) AS own_streams,
         sum(known_us) * 1e0 / nullif(sum(tokens), 0) AS tpot_us, sum(context) / nullif(sum(context_us), 0) AS context
  FROM classes
  GROUP BY grp, batch
  HAVING sum(stream_us) > 0
),
-- the cost of a prompt token, where all models of a group have the same
prefills AS (
  SELECT grp, min(cost_us) AS cost_us
  FROM (SELECT grp, coalesce(alone_us, token_us) AS cost_us
        FROM (SELECT DISTINCT grp, coalesce(model, '') AS model FROM requests WHERE latency) AS m LEFT JOIN prefill_fits AS f ON f.model = m.model) AS costs
  GROUP BY grp
  HAVING count(cost_us) = count(*) AND min(cost_us) = max(cost_us)
),
machine AS (
  SELECT gpu_flops * gpus_per_replica AS flops, gpu_bandwidth * gpus_per_replica AS bandwidth, memory_share * gpu_memory * gpus_per_replica - weight_bytes AS room,
         2 * layers * kv_heads * head_dim * kv_dtype_bytes AS kv, weight_bytes, active_params, shared_tokens, shared_streams
  FROM params
)
SELECT s.grp, s.batch, us / 1e6 AS seconds, own_streams * 1e6 / tpot_us AS tokens_per_s, tpot_us / 1e3 AS tpot_ms, step_us / 1e3 AS step_ms,
       weight_bytes * 1e3 / bandwidth AS floor_tpot_ms, context * s.streams AS context_tokens, kv AS kv_bytes_per_token,
       (weight_bytes + kv * context * s.streams) / (tpot_us / 1e6 * bandwidth) AS mbu, (weight_bytes + kv * context * s.streams) / (step_us / 1e6 * bandwidth) AS mbu_clean,
       2 * active_params * own_streams * 1e6 / tpot_us / flops AS mfu_decode, 1e6 / cost_us AS prefill_per_s, 2 * active_params * 1e6 / cost_us / flops AS mfu_prefill,
       2 * active_params * s.streams / (weight_bytes + kv * context * s.streams) AS intensity, flops / bandwidth AS ridge,
       CASE WHEN room < 0 THEN 0 ELSE floor(room / (kv * nullif(context, 0))) END AS max_batch,
       (shared_streams - 1) * shared_tokens * kv / 1e9 AS shared_saving_gb
FROM summed AS s LEFT JOIN clean_steps AS c ON c.grp = s.grp AND c.batch = s.batch LEFT JOIN prefills AS p ON p.grp = s.grp CROSS JOIN machine
ORDER BY s.grp, s.batch NULLS LAST
