-- about The rules are those of the text for DuckDB; arg_min of DuckDB passes over NULL, and so does what stands for it here.
WITH
told AS (
  SELECT *, CASE vantage WHEN 'client' THEN 0 WHEN 'replay' THEN 0 WHEN 'gateway' THEN 1 ELSE 2 END AS nearness,
         request_id || '#' || CAST(attempt AS VARCHAR) || '#' || CAST(dense_rank() OVER (PARTITION BY request_id, attempt, source_format, vantage ORDER BY arrival) AS VARCHAR) AS own
  FROM {source}
),
-- what may hold a call's tellings together
handles AS (
  SELECT DISTINCT handle, own, source_format || '@' || vantage AS teller, CASE WHEN clock_domain = 'wall' THEN epoch_us(arrival) END AS from_us,
         CASE WHEN clock_domain = 'wall' THEN epoch_us(arrival) + coalesce(end_us, 0) END AS till_us
  FROM told CROSS JOIN UNNEST(ARRAY['trace ' || trace_id, 'answer ' || response_id, 'span ' || span_id, 'span ' || parent_span_id]) AS held(handle)
  WHERE handle IS NOT NULL
),
-- the handles that tie calls of their own: each with the least name of its calls
tied AS (
  SELECT handle, own, min(own) OVER (PARTITION BY handle) AS name
  FROM handles
  WHERE handle IN (
    SELECT handle
    FROM handles
    GROUP BY handle
    HAVING count(DISTINCT own) > 1 AND count(DISTINCT (teller, own)) = count(DISTINCT teller) AND coalesce(max(from_us) <= min(till_us) + 2000000, TRUE)
  )
),
-- calls of one handle take its least name; once more, so that two handles of one call have one
named AS (
  SELECT handle, own, min(name) OVER (PARTITION BY own) AS name FROM tied
),
renamed AS (
  SELECT own, min(name) OVER (PARTITION BY handle) AS name FROM named
),
calls_of AS (
  SELECT own, min(name) AS call FROM renamed GROUP BY own
)
SELECT min_by(request_id, place) AS request_id, min_by(attempt, place) AS attempt, min_by(arrival, place) AS arrival, min_by(first_us, place) AS first_us,
       min_by(first_visible_us, place) AS first_visible_us, min_by(headers_us, place) AS headers_us, min_by(last_us, place) AS last_us, min_by(end_us, place) AS end_us,
       min_by(send_lag_us, place) AS send_lag_us, min_by(gaps_us, place) AS gaps_us, min_by(chunk_tokens, place) AS chunk_tokens, min_by(ttft_kind, place) AS ttft_kind,
       min_by(vantage, place) AS vantage, min_by(clock_domain, place) AS clock_domain, min_by(time_precision_us, place) AS time_precision_us,
       min_by(source_format, place) AS source_format, min_by(source_file, place) AS source_file, min_by(source_line, place) AS source_line,
       array_join(array_agg(source_format ORDER BY place) FILTER (WHERE place = format_place), '+') AS told_by,
       arg_min(root_request_id, place) AS root_request_id, arg_min(response_id, place) AS response_id,
       arg_min(trace_id, place) AS trace_id, arg_min(span_id, place) AS span_id, arg_min(parent_span_id, place) AS parent_span_id,
       arg_min(session_id, place) AS session_id, arg_min(turn, place) AS turn,
       arg_min(queue_us, place) AS queue_us, arg_min(prefill_us, place) AS prefill_us, arg_min(decode_us, place) AS decode_us,
       arg_min(CASE WHEN vantage = 'engine' AND queue_us IS NOT NULL THEN first_us END, place) AS engine_first_us,
       arg_min(error_class, verdict_place) AS error_class, arg_min(http_status, verdict_place) AS http_status,
       arg_min(finish_reason, verdict_place) AS finish_reason,
       arg_min(endpoint_kind, place) AS endpoint_kind, arg_min(stream, place) AS stream, bool_or(cached_response) AS cached_response,
       arg_min(model_requested, place) AS model_requested, arg_min(model_served, place) AS model_served,
       arg_min(provider, place) AS provider, arg_min(deployment, place) AS deployment, arg_min(replica, place) AS replica,
       arg_min(tenant, place) AS tenant, arg_min(app, place) AS app, arg_min(route, place) AS route,
       arg_min(key_hash, place) AS key_hash, arg_min(user_hash, place) AS user_hash,
       arg_min(input_tokens, count_place) AS input_tokens, arg_min(cached_input_tokens, count_place) AS cached_input_tokens,
       arg_min(cache_write_tokens, count_place) AS cache_write_tokens, arg_min(output_tokens, count_place) AS output_tokens,
       arg_min(reasoning_tokens, count_place) AS reasoning_tokens, arg_min(max_tokens, place) AS max_tokens,
       arg_min(tokens_source, count_place) AS tokens_source,
       arg_min(system_prompt_tokens, place) AS system_prompt_tokens, arg_min(system_prompt_hash, place) AS system_prompt_hash,
       arg_min(prefix_hash_ids, place) AS prefix_hash_ids,
       min_by(prefix_block_tokens, place) FILTER (WHERE prefix_hash_ids IS NOT NULL) AS prefix_block_tokens,
       nullif(array_join(array_sort(array_distinct(flatten(array_agg(flags)))), ','), '') AS quality
FROM (
  SELECT *,
         min(place) OVER (PARTITION BY call, source_format) AS format_place,
         place + CASE WHEN tokens_source = 'usage' THEN 0 ELSE 100 END AS count_place,
         nearness * 100 + place + CASE WHEN error_class = 'unknown' THEN 1000 ELSE 0 END AS verdict_place,
         -- flags on times and on counts belong to the telling whose times and counts are used
         filter(split(coalesce(quality, ''), ','), f -> f <> ''
           AND (place = 1 OR f NOT IN ('ttft_equals_end', 'ttft_is_headers', 'negative_interval', 'ttft_after_end', 'ttft_suspect', 'naive_time',
                                       'pseudo_stream', 'gap_overflow'))
           AND (tokens_source = 'usage' OR NOT counted OR f NOT IN ('tokens_estimated', 'tokens_missing', 'chunks_counted'))) AS flags
  FROM (
    SELECT *, bool_or(coalesce(tokens_source = 'usage', FALSE)) OVER (PARTITION BY call) AS counted,
           row_number() OVER (PARTITION BY call ORDER BY CASE WHEN first_us IS NOT NULL OR (stream = FALSE AND end_us IS NOT NULL) THEN 0 ELSE 1 END, nearness,
                                                         CASE WHEN first_us IS NULL THEN 1 ELSE 0 END, CASE WHEN gaps_us IS NULL THEN 1 ELSE 0 END,
                                                         source_format, source_file, source_line) AS place
    FROM (SELECT told.*, coalesce(calls_of.call, told.own) AS call FROM told LEFT JOIN calls_of ON told.own = calls_of.own)
  )
)
GROUP BY call
