-- about One row an attempt within the time range, every metric of metrics.md part 1 that belongs to one request.
SELECT {grp} AS grp, *,
       generation AND status IN ('ok', 'ok_length') AND NOT cached_response AS latency,
       CASE WHEN NOT generation THEN 'not_generation'
            WHEN cached_response THEN 'cached_response'
            WHEN status NOT IN ('ok', 'ok_length') THEN status END AS excluded,
       e2e_us * 1e0 / nullif(output_tokens, 0) AS ntpot_us,
       -- chunks that came in one read are one chunk: count and longest gap after merging (metrics.md 0.1)
       CASE WHEN merged IS NULL THEN len(gaps_us) ELSE merged.n END AS chunks,
       CASE WHEN merged IS NULL THEN CAST(list_max(gaps_us[2:]) AS BIGINT)
            ELSE nullif(merged.widest, -1) END AS max_gap_us
FROM (
  SELECT *,
         CASE WHEN streamed THEN first_us END AS ttft_us,
         CASE WHEN streamed THEN coalesce(first_visible_us, CASE WHEN reasoning_tokens = 0 THEN first_us END) END AS ttfvt_us,
         CASE WHEN status NOT IN ('ok', 'ok_length') THEN NULL WHEN streamed THEN coalesce(last_us, end_us) ELSE end_us END AS e2e_us,
         CASE WHEN list_min(gaps_us[2:]) <= merge_us
              THEN list_reduce(list_transform(gaps_us[2:], lambda g: {'since': CAST(g AS BIGINT), 'widest': CAST(0 AS BIGINT), 'n': CAST(0 AS BIGINT)}),
                     lambda a, x: CASE WHEN a.since + x.since <= merge_us
                                       THEN {'since': a.since + x.since, 'widest': a.widest, 'n': a.n}
                                       ELSE {'since': CAST(0 AS BIGINT), 'widest': greatest(a.widest, a.since + x.since), 'n': a.n + 1} END,
                     {'since': CAST(0 AS BIGINT), 'widest': CAST(-1 AS BIGINT), 'n': CAST(1 AS BIGINT)}) END AS merged
  FROM (
    SELECT *,
           -- one read can hold several chunks: merge within min(1 ms, a fifth of the stream's own pace)
           CAST(floor(least(1000e0, coalesce(tpot_us, (list_sum(gaps_us) - gaps_us[1]) * 1e0 / nullif(len(gaps_us) - 1, 0)) / 5)) AS BIGINT) AS merge_us
    FROM (
      SELECT *,
             CASE WHEN streamed AND paced_tokens >= 2 AND coalesce(last_us, end_us) > first_us
                  THEN (coalesce(last_us, end_us) - first_us) * 1e0 / (paced_tokens - 1) END AS tpot_us
      FROM (
        SELECT *,
               CASE WHEN stream = FALSE OR pseudo_stream THEN FALSE WHEN stream OR first_us IS NOT NULL THEN TRUE END AS streamed,
               -- tokens that the stream carried: without reasoning when that stayed hidden; NULL when the log cannot tell
               CASE WHEN coalesce(reasoning_tokens, 0) = 0 THEN output_tokens
                    WHEN first_visible_us > first_us THEN output_tokens
                    WHEN first_visible_us = first_us THEN visible_tokens
                    WHEN list_sum(chunk_tokens) > visible_tokens OR len(gaps_us) > visible_tokens THEN output_tokens
                    WHEN list_sum(chunk_tokens) <= visible_tokens THEN visible_tokens END AS paced_tokens
        FROM (
          SELECT request_id, root_request_id, attempt, session_id, turn, source_format, vantage, ttft_kind, quality,
                 epoch_us(arrival) AS arrival_us,
                 coalesce(model_requested, model_served) AS model, model_served, tenant, app, route, replica, deployment,
                 provider, user_hash, endpoint_kind, stream, coalesce(cached_response, FALSE) AS cached_response,
                 coalesce(endpoint_kind IN ('chat', 'completions', 'responses', 'messages'), TRUE) AS generation,
                 CASE WHEN error_class IN ('ok', 'content_filter') AND coalesce(error_class = 'content_filter' AND http_status >= 400, FALSE) THEN 'client_error'
                      WHEN error_class IN ('ok', 'content_filter') THEN CASE WHEN finish_reason = 'length' THEN 'ok_length' ELSE 'ok' END
                      WHEN error_class = 'client_cancel' THEN 'cancelled'
                      WHEN error_class IN ('client_error', 'context_length') THEN 'client_error'
                      WHEN error_class IN ('timeout', 'rate_limited', 'upstream_error', 'network') THEN 'failed'
                      WHEN error_class = 'in_flight' THEN 'in_flight'
                      ELSE 'unknown' END AS status,
                 error_class, http_status, finish_reason,
                 input_tokens, cached_input_tokens AS cached_tokens, output_tokens, reasoning_tokens,
                 output_tokens - reasoning_tokens AS visible_tokens, max_tokens,
                 input_tokens - cached_input_tokens AS uncached_tokens,
                 system_prompt_tokens AS system_tokens, system_prompt_hash AS system_hash,
                 prefix_hash_ids AS prefix_ids,
                 coalesce(CAST(prefix_block_tokens AS DOUBLE), input_tokens * 1e0 / nullif(len(prefix_hash_ids), 0)) AS prefix_block_tokens,
                 first_us, first_visible_us, last_us, end_us, headers_us, send_lag_us, queue_us, prefill_us, decode_us,
                 gaps_us, CASE WHEN len(chunk_tokens) = len(gaps_us) THEN chunk_tokens END AS chunk_tokens,
                 -- one delivery of several tokens: a proxy held the stream back, so it says nothing about pace
                 coalesce(output_tokens >= 2 AND (len(gaps_us) = 1 OR (first_us = last_us AND time_precision_us <= 1000)), FALSE)
                   OR coalesce(contains(quality, 'pseudo_stream'), FALSE) AS pseudo_stream
          FROM attempts
          WHERE {range}
        )
      )
    )
  )
)
