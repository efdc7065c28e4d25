-- about The raw rows when several formats, or several spans, tell of the same calls. A teller is a format at a vantage. Its rows with one (request_id,
-- about attempt) and one arrival to the microsecond are one call told twice; the n-th such call of a teller joins the n-th of the others. Where ids
-- about differ, calls join that share a trace_id or response_id, or of which one's parent_span_id is the other's span_id, if each teller has just one such
-- about call and all ran at one time (to 2 s); several calls under one handle stay calls of their own.
-- about Times, and what they mean, come whole from one telling (two clocks do not mix): one that knows the first token, or that none was streamed, before others, then
-- about client or replay, gateway, engine. The outcome comes from the nearest vantage that knows it, tokens from a server's usage before estimates,
-- about any other field from the first telling in that order that has it. source_format is that of the times; told_by names the formats in that order, joined by +.
WITH
told AS MATERIALIZED (
  SELECT *, CASE vantage WHEN 'client' THEN 0 WHEN 'replay' THEN 0 WHEN 'gateway' THEN 1 ELSE 2 END AS nearness,
         request_id || '#' || attempt || '#' || dense_rank() OVER (PARTITION BY request_id, attempt, source_format, vantage ORDER BY arrival) AS own
  FROM {source}
),
-- what may hold a call's tellings together
handles AS MATERIALIZED (
  SELECT DISTINCT handle, own, source_format || '@' || vantage AS teller, CASE WHEN clock_domain = 'wall' THEN epoch_us(arrival) END AS from_us,
         CASE WHEN clock_domain = 'wall' THEN epoch_us(arrival) + coalesce(end_us, 0) END AS till_us
  FROM (SELECT *, unnest(['trace ' || trace_id, 'answer ' || response_id, 'span ' || span_id, 'span ' || parent_span_id]) AS handle FROM told)
  WHERE handle IS NOT NULL
),
links AS MATERIALIZED (
  SELECT handle, min(own) AS name
  FROM handles
  GROUP BY handle
  HAVING count(DISTINCT own) > 1 AND count(DISTINCT (teller, own)) = count(DISTINCT teller) AND coalesce(max(from_us) <= min(till_us) + 2000000, TRUE)
),
-- calls of one handle take its least name; once more, so that two handles of one call have one
named AS (
  SELECT own, min(name) AS name FROM handles JOIN links ON handles.handle = links.handle GROUP BY own
),
renamed AS (
  SELECT links.handle, min(named.name) AS name
  FROM links JOIN handles ON links.handle = handles.handle JOIN named ON handles.own = named.own
  GROUP BY links.handle
),
calls_of AS (
  SELECT own, min(renamed.name) AS call FROM handles JOIN renamed ON handles.handle = renamed.handle GROUP BY own
)
SELECT unnest(arg_min({'request_id': request_id, 'attempt': attempt, 'arrival': arrival, 'first_us': first_us, 'first_visible_us': first_visible_us, 'headers_us': headers_us, 'last_us': last_us,
                      'end_us': end_us, 'send_lag_us': send_lag_us, 'gaps_us': gaps_us, 'chunk_tokens': chunk_tokens, 'ttft_kind': ttft_kind,
                      'vantage': vantage, 'clock_domain': clock_domain, 'time_precision_us': time_precision_us, 'source_format': source_format,
                      'source_file': source_file, 'source_line': source_line}, place)),
       string_agg(source_format, '+' ORDER BY place) FILTER (WHERE place = format_place) AS told_by,
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
       arg_min(prefix, place).ids AS prefix_hash_ids, arg_min(prefix, place).tokens AS prefix_block_tokens,
       nullif(array_to_string(list_sort(list_distinct(flatten(list(flags)))), ','), '') AS quality
FROM (
  SELECT *,
         CASE WHEN prefix_hash_ids IS NOT NULL THEN {'ids': prefix_hash_ids, 'tokens': prefix_block_tokens} END AS prefix,
         min(place) OVER (PARTITION BY call, source_format) AS format_place,
         place + CASE WHEN tokens_source = 'usage' THEN 0 ELSE 100 END AS count_place,
         nearness * 100 + place + CASE WHEN error_class = 'unknown' THEN 1000 ELSE 0 END AS verdict_place,
         -- flags on times and on counts belong to the telling whose times and counts are used
         list_filter(str_split(coalesce(quality, ''), ','), lambda f: f <> ''
           AND (place = 1 OR f NOT IN ('ttft_equals_end', 'ttft_is_headers', 'negative_interval', 'ttft_after_end', 'ttft_suspect', 'naive_time',
                                       'pseudo_stream', 'gap_overflow'))
           AND (tokens_source = 'usage' OR NOT counted OR f NOT IN ('tokens_estimated', 'tokens_missing', 'chunks_counted'))) AS flags
  FROM (
    SELECT *, bool_or(coalesce(tokens_source = 'usage', FALSE)) OVER (PARTITION BY call) AS counted,
           row_number() OVER (PARTITION BY call ORDER BY CASE WHEN first_us IS NOT NULL OR (stream = FALSE AND end_us IS NOT NULL) THEN 0 ELSE 1 END, nearness, first_us IS NULL, gaps_us IS NULL, source_format, source_file, source_line) AS place
    FROM (SELECT told.*, coalesce(call, told.own) AS call FROM told LEFT JOIN calls_of ON told.own = calls_of.own)
  )
)
GROUP BY call
