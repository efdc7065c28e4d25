-- about One row an attempt within the time range, with every metric of metrics.md part 1 that belongs to one request.
SELECT {grp} AS grp, *,
       e2e_us * 1e0 / nullif(output_tokens, 0) AS ntpot_us,
       -- chunks that came in one read are one chunk: count and longest gap after merging
       CASE WHEN merged IS NULL THEN len(gaps_us) ELSE merged.n END AS chunks,
       CASE WHEN whole THEN NULL WHEN merged IS NULL THEN CAST(list_max(gaps_us[2:]) AS BIGINT) ELSE nullif(merged.widest, -1) END AS max_gap_us
FROM (
  SELECT *,
         -- only streams that have such chunks pay for it; since: from the first chunk of the open group (metrics.md 0.1)
         {merged} AS merged
  FROM (
    SELECT *,
           CASE WHEN latency THEN NULL WHEN NOT generation THEN 'not_generation' WHEN cached_response THEN 'cached_response' ELSE status END AS excluded,
           -- within min(1 ms, a fifth of the stream's own pace, a token or else a chunk) two chunks are one
           CAST(floor(least(1000e0, coalesce(tpot_us, (list_sum(gaps_us) - gaps_us[1]) * 1e0 / nullif(len(gaps_us) - 1, 0)) / 5)) AS BIGINT) AS merge_us
    FROM (
      SELECT *,
             CASE WHEN paced_tokens >= 2 AND till_us > ttft_us THEN (till_us - ttft_us) * 1e0 / (paced_tokens - 1) END AS tpot_us,
             CASE WHEN outcome = 'ok' THEN CASE WHEN streamed THEN till_us ELSE end_us END END AS e2e_us,
             CASE WHEN ttft_us IS NOT NULL THEN coalesce(first_visible_us, CASE WHEN reasoning_tokens = 0 THEN first_us END) END AS ttfvt_us,
             CASE WHEN outcome = 'ok' AND finish_reason = 'length' THEN 'ok_length' ELSE outcome END AS status
      FROM (
        SELECT *, coalesce(last_us, end_us) AS till_us,
               CASE WHEN outcome = 'ok' THEN generation AND NOT cached_response ELSE FALSE END AS latency,
               CASE WHEN whole THEN FALSE WHEN stream OR first_us IS NOT NULL THEN TRUE END AS streamed,
               CASE WHEN whole THEN NULL ELSE first_us END AS ttft_us,
               -- tokens that the stream carried: without reasoning that stayed hidden; NULL when the log cannot tell whether it did
               CASE WHEN reasoning_tokens IS NULL OR reasoning_tokens = 0 OR first_visible_us > first_us THEN output_tokens
                    WHEN first_visible_us = first_us THEN output_tokens - reasoning_tokens END AS paced_tokens
        FROM (
          SELECT request_id, root_request_id, attempt, session_id, turn, source_format, told_by, vantage, clock_domain, ttft_kind, quality,
                 CASE WHEN {clock} THEN epoch_us(arrival) END AS arrival_us,
                 coalesce(model_requested, model_served) AS model, model_served, tenant, app, route, replica, deployment,
                 provider, user_hash, endpoint_kind, stream, coalesce(cached_response, FALSE) AS cached_response,
                 CASE WHEN endpoint_kind IS NULL OR endpoint_kind = 'chat' THEN TRUE
                      ELSE endpoint_kind IN ('completions', 'responses', 'messages') END AS generation,
                 -- a map is looked up once a dictionary entry, a chain of comparisons once a row
                 coalesce(MAP {'ok': 'ok', 'client_cancel': 'cancelled', 'client_error': 'client_error', 'context_length': 'client_error',
                               'timeout': 'failed', 'rate_limited': 'failed', 'upstream_error': 'failed', 'network': 'failed',
                               'in_flight': 'in_flight', 'unknown': 'unknown'}[error_class],
                          -- an answer that a filter emptied is an answer; a refusal with a status of 4xx is the caller's error
                          CASE WHEN error_class <> 'content_filter' THEN 'unknown' WHEN http_status >= 400 THEN 'client_error' ELSE 'ok' END) AS outcome,
                 -- the caller had nothing before it had everything: not streamed, or held back on the way
                 CASE WHEN quality IS NULL THEN NOT stream ELSE contains(quality, 'pseudo_stream') OR NOT stream END AS whole,
                 error_class, http_status, finish_reason,
                 input_tokens, cached_input_tokens AS cached_tokens, output_tokens, reasoning_tokens,
                 output_tokens - reasoning_tokens AS visible_tokens, max_tokens, tokens_source,
                 input_tokens - cached_input_tokens AS uncached_tokens,
                 system_prompt_tokens AS system_tokens, system_prompt_hash AS system_hash, prefix_hash_ids AS prefix_ids,
                 coalesce(CAST(prefix_block_tokens AS DOUBLE), input_tokens * 1e0 / nullif(len(prefix_hash_ids), 0)) AS prefix_block_tokens,
                 prefix_block_tokens IS NOT NULL AS prefix_exact,
                 first_us, first_visible_us, last_us, end_us, headers_us, send_lag_us, queue_us, prefill_us, decode_us, engine_first_us,
                 gaps_us, CASE WHEN len(chunk_tokens) = len(gaps_us) THEN chunk_tokens END AS chunk_tokens
          FROM attempts
          WHERE {range}
        )
      )
    )
  )
)
