-- title Latency as another tool defines it
-- about The same calls under the rules of a load tool, its names for its figures, from the times and tokens of the log: for comparing with what that tool printed.
-- about n are samples (guidellm: tokens). n is output tokens below, all with reasoning. reprise: as the query latency. vllm (bench serve) and
-- about inference-perf: tpot = (last - first) / (n - 1), itl = gaps between chunks as recorded, pooled. sglang: itl = gap / tokens of its chunk, once a token.
-- about aiperf, genai-perf: itl = (last - first) / (n - 1), one a call, so stalls vanish; chunk_gap = gaps. guidellm: tpot = (last - start) / n, with the
-- about first token, and itl = (last - first) / (n - 1), weighted by tokens. llmperf: itl = (last - start) / n. mlperf: from the time that the call was due (in
-- about replays). e2e to the last chunk (vllm, sglang, aiperf, genai-perf) or to the end. Percentiles of type 1 for guidellm and mlperf, else 7.
-- about What a tool would have counted from a chunk that the log does not hold (role alone, empty) starts with the first token here.
-- level L0
-- param definition TEXT vllm|sglang|aiperf|guidellm|inference-perf|llmperf|genai-perf|mlperf|reprise
-- key metric
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
-- quantiles value_us 1e3 weight copies type1 (SELECT definition FROM params) IN ('guidellm', 'mlperf')
WITH
-- streams that ended well; done_us is where the tool's e2e ends
streams AS (
  SELECT grp, first_us, coalesce(last_us, end_us) AS last_us, output_tokens AS n,
         CASE WHEN (SELECT definition FROM params) IN ('guidellm', 'inference-perf', 'llmperf', 'mlperf') THEN end_us ELSE coalesce(last_us, end_us) END AS done_us
  FROM requests
  WHERE latency AND first_us IS NOT NULL AND (SELECT definition FROM params) <> 'reprise'
),
samples AS (
  SELECT 'ttft' AS metric, grp, first_us * 1e0 AS value_us, 1 AS copies FROM streams
  UNION ALL
  SELECT 'e2e', grp, done_us, 1 FROM streams
  UNION ALL
  SELECT 'tpot', grp, (CASE WHEN (SELECT definition FROM params) = 'inference-perf' THEN last_us ELSE done_us END - first_us) * 1e0 / (n - 1), 1
  FROM streams WHERE n >= 2 AND (SELECT definition FROM params) IN ('vllm', 'sglang', 'inference-perf', 'mlperf')
  UNION ALL
  SELECT 'tpot', grp, last_us * 1e0 / n, n FROM streams WHERE n >= 1 AND (SELECT definition FROM params) = 'guidellm'
  UNION ALL
  SELECT 'itl', grp, (last_us - first_us) * 1e0 / (n - 1), CASE WHEN (SELECT definition FROM params) = 'guidellm' THEN n - 1 ELSE 1 END
  FROM streams WHERE n >= 2 AND (SELECT definition FROM params) IN ('aiperf', 'genai-perf', 'guidellm')
  UNION ALL
  SELECT 'itl', grp, last_us * 1e0 / n, 1 FROM streams WHERE n >= 1 AND (SELECT definition FROM params) = 'llmperf'
  UNION ALL
  SELECT 'ntpot', grp, done_us * 1e0 / n, 1 FROM streams WHERE n >= 1 AND (SELECT definition FROM params) = 'inference-perf'
  UNION ALL
  SELECT CASE WHEN (SELECT definition FROM params) = 'aiperf' THEN 'chunk_gap' ELSE 'itl' END, grp, gap_us, 1
  FROM recorded_gaps WHERE (SELECT definition FROM params) IN ('vllm', 'inference-perf', 'aiperf')
  UNION ALL
  SELECT 'itl', grp, gap_us * 1e0 / coalesce(nullif(tokens, 0), 1), coalesce(nullif(tokens, 0), 1) FROM recorded_gaps WHERE (SELECT definition FROM params) = 'sglang'
  UNION ALL
  SELECT metric, grp, value_us, 1 FROM latency_samples WHERE (SELECT definition FROM params) = 'reprise'
)
