-- about The raw rows when several formats, or several spans, tell of the same calls. A teller is a format at a vantage. Its rows with one (request_id,
-- about attempt) and one arrival to the microsecond are one call told twice; the n-th such call of a teller joins the n-th of the others, where tellers
-- about tell of unlike numbers the n-th of those that meet in time. Where ids differ, calls join that share a response_id, or of which one's parent_span_id is the other's span_id, whatever their clocks say, or a trace_id where all
-- about ran at one time (to 2 s), if each teller has just one such call; several calls under one handle stay calls of their own.
-- about Times, and what they mean, come whole from one telling (two clocks do not mix): one that knows the first token, or that none was streamed, before others, then
-- about client or replay, gateway, engine. The outcome comes from the nearest vantage that knows it, tokens from a server's usage before estimates,
-- about any other field from the first telling in that order that has it; of spans of one call in one line, the longest comes first. source_format is that of the times; told_by names the formats in that order, joined by +.
-- kept every statement about a joined run reads it, and joining costs more than all the rest
WITH
-- where tellers tell unlike numbers of calls of one id, their order does not say which is which: there, calls that do not meet in time (to .25 s, 2 s without an end) are others
again AS (
  SELECT DISTINCT request_id, attempt
  FROM (SELECT request_id, attempt, min(arrival) AS first_arrival, max(arrival) AS last_arrival FROM {source} GROUP BY request_id, attempt, source_format, vantage)
  WHERE first_arrival < last_arrival
),
told_again AS (
  SELECT *, count(*) OVER (PARTITION BY request_id, attempt, source_format, vantage) AS n, sum(walls) OVER (PARTITION BY request_id, attempt) AS walled
  FROM (
    SELECT r.request_id, r.attempt, source_format, vantage, arrival, epoch_us(arrival) AS from_us, epoch_us(arrival) + max(coalesce(end_us, 2000000)) AS till_us,
           min(CASE WHEN clock_domain = 'wall' THEN 1 ELSE 0 END) AS walls
    FROM {source} AS r JOIN again ON r.request_id = again.request_id AND r.attempt = again.attempt
    GROUP BY r.request_id, r.attempt, source_format, vantage, arrival
  )
),
uneven AS (
  SELECT *, max(till_us) OVER (PARTITION BY request_id, attempt ORDER BY from_us, till_us, source_format, vantage ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_us
  FROM (SELECT *, min(n) OVER (PARTITION BY request_id, attempt) AS fewest, max(n) OVER (PARTITION BY request_id, attempt) AS most,
               count(*) OVER (PARTITION BY request_id, attempt) AS total FROM told_again)
  WHERE fewest < most AND walled = total
),
met AS (
  SELECT request_id, attempt, source_format, vantage, arrival,
         sum(CASE WHEN from_us > before_us + 250000 THEN 1 ELSE 0 END) OVER (PARTITION BY request_id, attempt ORDER BY from_us, till_us, source_format, vantage ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS meeting
  FROM uneven
),
told AS MATERIALIZED (
  SELECT r.*, CASE r.vantage WHEN 'client' THEN 0 WHEN 'replay' THEN 0 WHEN 'gateway' THEN 1 ELSE 2 END AS nearness,
         r.request_id || '#' || CAST(r.attempt AS VARCHAR) || coalesce('#' || CAST(meeting AS VARCHAR), '') || '#' ||
           CAST(dense_rank() OVER (PARTITION BY r.request_id, r.attempt, meeting, r.source_format, r.vantage ORDER BY r.arrival) AS VARCHAR) AS own
  FROM {source} AS r
  LEFT JOIN met ON met.request_id = r.request_id AND met.attempt = r.attempt AND met.source_format = r.source_format AND met.vantage = r.vantage AND met.arrival = r.arrival
),
-- what may hold a call's tellings together
handles AS MATERIALIZED (
  SELECT DISTINCT handle, own, source_format || '@' || vantage AS teller, CASE WHEN clock_domain = 'wall' THEN epoch_us(arrival) END AS from_us,
         CASE WHEN clock_domain = 'wall' THEN epoch_us(arrival) + coalesce(end_us, 0) END AS till_us
  FROM {held}
  WHERE handle IS NOT NULL
),
{ties}
SELECT arg_min_null(request_id, place) AS request_id, arg_min_null(attempt, place) AS attempt, arg_min_null(arrival, place) AS arrival,
       arg_min_null(first_us, place) AS first_us, arg_min_null(first_visible_us, place) AS first_visible_us,
       arg_min_null(headers_us, place) AS headers_us, arg_min_null(last_us, place) AS last_us, arg_min_null(end_us, place) AS end_us,
       arg_min_null(send_lag_us, place) AS send_lag_us, arg_min_null(gaps_us, place) AS gaps_us, arg_min_null(chunk_tokens, place) AS chunk_tokens,
       arg_min_null(ttft_kind, place) AS ttft_kind, arg_min_null(vantage, place) AS vantage, arg_min_null(clock_domain, place) AS clock_domain,
       arg_min_null(time_precision_us, place) AS time_precision_us, arg_min_null(source_format, place) AS source_format,
       arg_min_null(source_file, place) AS source_file, arg_min_null(source_line, place) AS source_line,
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
       arg_min(prefix_hash_ids, place) AS prefix_hash_ids, arg_min_null(prefix_block_tokens, place) FILTER (WHERE prefix_hash_ids IS NOT NULL) AS prefix_block_tokens,
       nullif(array_to_string(list_sort(list_distinct(flatten(list(flags)))), ','), '') AS quality
FROM (
  SELECT *,
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
           row_number() OVER (PARTITION BY call ORDER BY CASE WHEN first_us IS NOT NULL OR (stream = FALSE AND end_us IS NOT NULL) THEN 0 ELSE 1 END, nearness, first_us IS NULL, gaps_us IS NULL,
                                                         -- of spans within spans, which may stand in one line, the outermost
                                                         source_format, source_file, source_line, end_us DESC NULLS LAST, span_id, own) AS place
    FROM (SELECT told.*, coalesce(calls_of.call, told.own) AS call FROM told LEFT JOIN calls_of ON told.own = calls_of.own)
  )
)
GROUP BY call
