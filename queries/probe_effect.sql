-- title What a long prompt does to other streams
-- about Measured, not inferred: a replay sent probes at random moments, a random half of them long prompts, the others short ones (replay --probe-tokens), so
-- about that the two differ by nothing but the prompt (metrics.md 4.6). Streams that were decoding on the probe's replica when it was sent: the longest gap that touches the window
-- about behind it, and the chunks they got in it, as means over probes of means over streams. effect = long - control, with the 95 % interval of two means (Welch, normal), the
-- about probe being what was drawn. The window is as long as 90 % of the long probes waited for their first token, or window_us. Probes without a first token, or without
-- about a stream beside them, are left out. Chunks lost without longer gaps: the prompt was read in pieces.
-- level L3
-- param window_us BIGINT
-- key grp
-- column probes requests none
-- column controls requests none
-- column tokens tokens none
-- column window_ms ms none
-- column streams requests none
-- column gap_long_ms ms lower
-- column gap_control_ms ms lower
-- column gap_effect_ms ms lower
-- column gap_low_ms ms none
-- column gap_high_ms ms none
-- column chunks_long chunks higher
-- column chunks_control chunks higher
-- column chunks_effect chunks higher
-- column chunks_low chunks none
-- column chunks_high chunks none
WITH
ranked AS (
  SELECT *, row_number() OVER (PARTITION BY arm ORDER BY ttft_us, request_id, attempt) AS place, count(*) OVER (PARTITION BY arm) AS n FROM probes
),
windowed AS (
  SELECT r.*, coalesce((SELECT window_us FROM params), min(CASE WHEN arm = 'long' AND place * 10 >= n * 9 THEN ttft_us END) OVER ()) AS within_us
  FROM ranked AS r
),
-- gaps that touch a window
near AS (
  SELECT w.request_id AS probe, arm, w.tokens, within_us, g.grp, g.request_id, g.attempt, g.arrival_us, gap_us,
         CASE WHEN g.end_us - gap_us <= at_us THEN 1 ELSE 0 END AS held, CASE WHEN g.end_us <= at_us + within_us THEN 1 ELSE 0 END AS came
  FROM gaps AS g JOIN windowed AS w ON w.replica = g.replica
  WHERE g.end_us > at_us AND g.end_us - gap_us < at_us + within_us
),
-- streams that were decoding at the send
streams AS (
  SELECT probe, arm, tokens, within_us, grp, request_id, attempt, arrival_us, max(gap_us) AS longest_us, sum(came) AS chunks
  FROM near
  GROUP BY probe, arm, tokens, within_us, grp, request_id, attempt, arrival_us
  HAVING max(held) = 1
),
each_probe AS (
  SELECT grp, probe, arm, tokens, within_us, count(*) AS streams, avg(longest_us) / 1e3 AS gap_ms, avg(chunks * 1e0) AS chunks
  FROM streams
  GROUP BY grp, probe, arm, tokens, within_us
),
arms AS (
  SELECT grp, max(within_us) / 1e3 AS window_ms, CAST(sum(streams) AS BIGINT) AS streams,
         count(CASE WHEN arm = 'long' THEN 1 END) AS probes, count(CASE WHEN arm = 'control' THEN 1 END) AS controls, avg(CASE WHEN arm = 'long' THEN tokens END) AS tokens,
         avg(CASE WHEN arm = 'long' THEN gap_ms END) AS gap_long_ms, avg(CASE WHEN arm = 'control' THEN gap_ms END) AS gap_control_ms,
         var_samp(CASE WHEN arm = 'long' THEN gap_ms END) AS gap_long_var, var_samp(CASE WHEN arm = 'control' THEN gap_ms END) AS gap_control_var,
         avg(CASE WHEN arm = 'long' THEN chunks END) AS chunks_long, avg(CASE WHEN arm = 'control' THEN chunks END) AS chunks_control,
         var_samp(CASE WHEN arm = 'long' THEN chunks END) AS chunks_long_var, var_samp(CASE WHEN arm = 'control' THEN chunks END) AS chunks_control_var
  FROM each_probe
  GROUP BY grp
),
-- half the width of the intervals
widths AS (
  SELECT *, 196e-2 * sqrt(gap_long_var / nullif(probes, 0) + gap_control_var / nullif(controls, 0)) AS gap_half,
         196e-2 * sqrt(chunks_long_var / nullif(probes, 0) + chunks_control_var / nullif(controls, 0)) AS chunks_half
  FROM arms
)
SELECT grp, probes, controls, tokens, window_ms, streams, gap_long_ms, gap_control_ms, gap_long_ms - gap_control_ms AS gap_effect_ms,
       gap_long_ms - gap_control_ms - gap_half AS gap_low_ms, gap_long_ms - gap_control_ms + gap_half AS gap_high_ms, chunks_long, chunks_control,
       chunks_long - chunks_control AS chunks_effect, chunks_long - chunks_control - chunks_half AS chunks_low, chunks_long - chunks_control + chunks_half AS chunks_high
FROM widths
ORDER BY grp
