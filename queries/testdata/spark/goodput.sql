CREATE TABLE step_a AS
WITH again AS (
SELECT DISTINCT request_id, attempt
  FROM (SELECT request_id, attempt, min(arrival) AS first_arrival, max(arrival) AS last_arrival FROM `logs` /* run */ GROUP BY request_id, attempt, source_format, vantage)
  WHERE first_arrival < last_arrival
),
told_again AS (
SELECT *, count(*) OVER (PARTITION BY request_id, attempt, source_format, vantage) AS n, sum(walls) OVER (PARTITION BY request_id, attempt) AS walled
  FROM (
    SELECT r.request_id, r.attempt, source_format, vantage, arrival, unix_micros(arrival) AS from_us, unix_micros(arrival) + max(coalesce(end_us, 2000000)) AS till_us,
           min(CASE WHEN clock_domain = 'wall' THEN 1 ELSE 0 END) AS walls
    FROM `logs` /* run */ AS r JOIN again ON r.request_id = again.request_id AND r.attempt = again.attempt
    GROUP BY r.request_id, r.attempt, source_format, vantage, arrival
  )
),
uneven AS (
SELECT *, max(till_us) OVER (PARTITION BY request_id, attempt ORDER BY from_us NULLS LAST, till_us NULLS LAST, source_format NULLS LAST, vantage NULLS LAST ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_us
  FROM (SELECT *, min(n) OVER (PARTITION BY request_id, attempt) AS fewest, max(n) OVER (PARTITION BY request_id, attempt) AS most,
               count(*) OVER (PARTITION BY request_id, attempt) AS total FROM told_again)
  WHERE fewest < most AND walled = total
),
met AS (
SELECT request_id, attempt, source_format, vantage, arrival,
         sum(CASE WHEN from_us > before_us + 250000 THEN 1 ELSE 0 END) OVER (PARTITION BY request_id, attempt ORDER BY from_us NULLS LAST, till_us NULLS LAST, source_format NULLS LAST, vantage NULLS LAST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS meeting
  FROM uneven
)
SELECT r.*, CASE r.vantage WHEN 'client' THEN 0 WHEN 'replay' THEN 0 WHEN 'gateway' THEN 1 ELSE 2 END AS nearness,
         r.request_id || '#' || CAST(r.attempt AS STRING) || coalesce('#' || CAST(meeting AS STRING), '') || '#' ||
           CAST(dense_rank() OVER (PARTITION BY r.request_id, r.attempt, meeting, r.source_format, r.vantage ORDER BY r.arrival NULLS LAST) AS STRING) AS own
  FROM `logs` /* run */ AS r
  LEFT JOIN met ON met.request_id = r.request_id AND met.attempt = r.attempt AND met.source_format = r.source_format AND met.vantage = r.vantage AND met.arrival = r.arrival;

CREATE TABLE step_b AS
WITH handles AS (
SELECT DISTINCT handle, own, source_format || '@' || vantage AS teller, CASE WHEN clock_domain = 'wall' THEN unix_micros(arrival) END AS from_us,
         CASE WHEN clock_domain = 'wall' THEN unix_micros(arrival) + coalesce(end_us, 0) END AS till_us
  FROM step_a LATERAL VIEW explode(array('trace ' || trace_id, 'answer ' || response_id, 'span ' || span_id, 'span ' || parent_span_id)) held AS handle
  WHERE handle IS NOT NULL
),
tied AS (
SELECT handle, own, min(own) OVER (PARTITION BY handle) AS name
  FROM handles
  WHERE handle IN (
    SELECT handle
    FROM handles
    GROUP BY handle
    HAVING count(DISTINCT own) > 1 AND count(DISTINCT (teller, own)) = count(DISTINCT teller) AND (handle NOT LIKE 'trace %' OR coalesce(max(from_us) <= min(till_us) + 2000000, TRUE))
  )
),
named AS (
SELECT handle, own, min(name) OVER (PARTITION BY own) AS name FROM tied
),
renamed AS (
SELECT own, min(name) OVER (PARTITION BY handle) AS name FROM named
),
calls_of AS (
SELECT own, min(name) AS call FROM renamed GROUP BY own
)
SELECT min_by(request_id, place) AS request_id, min_by(attempt, place) AS attempt, min_by(arrival, place) AS arrival,
       min_by(first_us, place) AS first_us, min_by(first_visible_us, place) AS first_visible_us,
       min_by(headers_us, place) AS headers_us, min_by(last_us, place) AS last_us, min_by(end_us, place) AS end_us,
       min_by(send_lag_us, place) AS send_lag_us, min_by(gaps_us, place) AS gaps_us, min_by(chunk_tokens, place) AS chunk_tokens,
       min_by(ttft_kind, place) AS ttft_kind, min_by(vantage, place) AS vantage, min_by(clock_domain, place) AS clock_domain,
       min_by(time_precision_us, place) AS time_precision_us, min_by(source_format, place) AS source_format,
       min_by(source_file, place) AS source_file, min_by(source_line, place) AS source_line,
       array_join(transform(array_sort(array_agg(struct(place, source_format AS value)) FILTER (WHERE place = format_place)), s -> s.value), '+') AS told_by,
       min_by(root_request_id, place) FILTER (WHERE root_request_id IS NOT NULL) AS root_request_id, min_by(response_id, place) FILTER (WHERE response_id IS NOT NULL) AS response_id,
       min_by(trace_id, place) FILTER (WHERE trace_id IS NOT NULL) AS trace_id, min_by(span_id, place) FILTER (WHERE span_id IS NOT NULL) AS span_id, min_by(parent_span_id, place) FILTER (WHERE parent_span_id IS NOT NULL) AS parent_span_id,
       min_by(session_id, place) FILTER (WHERE session_id IS NOT NULL) AS session_id, min_by(turn, place) FILTER (WHERE turn IS NOT NULL) AS turn,
       min_by(queue_us, place) FILTER (WHERE queue_us IS NOT NULL) AS queue_us, min_by(prefill_us, place) FILTER (WHERE prefill_us IS NOT NULL) AS prefill_us, min_by(decode_us, place) FILTER (WHERE decode_us IS NOT NULL) AS decode_us,
       min_by(CASE WHEN vantage = 'engine' AND queue_us IS NOT NULL THEN first_us END, place) FILTER (WHERE CASE WHEN vantage = 'engine' AND queue_us IS NOT NULL THEN first_us END IS NOT NULL) AS engine_first_us,
       min_by(error_class, verdict_place) FILTER (WHERE error_class IS NOT NULL) AS error_class, min_by(http_status, verdict_place) FILTER (WHERE http_status IS NOT NULL) AS http_status,
       min_by(finish_reason, verdict_place) FILTER (WHERE finish_reason IS NOT NULL) AS finish_reason,
       min_by(endpoint_kind, place) FILTER (WHERE endpoint_kind IS NOT NULL) AS endpoint_kind, min_by(stream, place) FILTER (WHERE stream IS NOT NULL) AS stream, bool_or(cached_response) AS cached_response,
       min_by(model_requested, place) FILTER (WHERE model_requested IS NOT NULL) AS model_requested, min_by(model_served, place) FILTER (WHERE model_served IS NOT NULL) AS model_served,
       min_by(provider, place) FILTER (WHERE provider IS NOT NULL) AS provider, min_by(deployment, place) FILTER (WHERE deployment IS NOT NULL) AS deployment, min_by(replica, place) FILTER (WHERE replica IS NOT NULL) AS replica,
       min_by(tenant, place) FILTER (WHERE tenant IS NOT NULL) AS tenant, min_by(app, place) FILTER (WHERE app IS NOT NULL) AS app, min_by(route, place) FILTER (WHERE route IS NOT NULL) AS route,
       min_by(key_hash, place) FILTER (WHERE key_hash IS NOT NULL) AS key_hash, min_by(user_hash, place) FILTER (WHERE user_hash IS NOT NULL) AS user_hash,
       min_by(input_tokens, count_place) FILTER (WHERE input_tokens IS NOT NULL) AS input_tokens, min_by(cached_input_tokens, count_place) FILTER (WHERE cached_input_tokens IS NOT NULL) AS cached_input_tokens,
       min_by(cache_write_tokens, count_place) FILTER (WHERE cache_write_tokens IS NOT NULL) AS cache_write_tokens, min_by(output_tokens, count_place) FILTER (WHERE output_tokens IS NOT NULL) AS output_tokens,
       min_by(reasoning_tokens, count_place) FILTER (WHERE reasoning_tokens IS NOT NULL) AS reasoning_tokens, min_by(max_tokens, place) FILTER (WHERE max_tokens IS NOT NULL) AS max_tokens,
       min_by(tokens_source, count_place) FILTER (WHERE tokens_source IS NOT NULL) AS tokens_source,
       min_by(system_prompt_tokens, place) FILTER (WHERE system_prompt_tokens IS NOT NULL) AS system_prompt_tokens, min_by(system_prompt_hash, place) FILTER (WHERE system_prompt_hash IS NOT NULL) AS system_prompt_hash,
       min_by(prefix_hash_ids, place) FILTER (WHERE prefix_hash_ids IS NOT NULL) AS prefix_hash_ids, min_by(prefix_block_tokens, place) FILTER (WHERE prefix_hash_ids IS NOT NULL) AS prefix_block_tokens,
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
           CAST(row_number() OVER (PARTITION BY call ORDER BY CASE WHEN first_us IS NOT NULL OR (stream = FALSE AND end_us IS NOT NULL) THEN 0 ELSE 1 END NULLS LAST, nearness NULLS LAST, first_us IS NULL NULLS LAST, gaps_us IS NULL NULLS LAST, -- of spans within spans, which may stand in one line, the outermost
                                                         source_format NULLS LAST, source_file NULLS LAST, source_line NULLS LAST, end_us DESC NULLS LAST, span_id NULLS LAST, own NULLS LAST) AS BIGINT) AS place
    FROM (SELECT told.*, coalesce(calls_of.call, told.own) AS call FROM step_a AS told LEFT JOIN calls_of ON told.own = calls_of.own)
  )
)
GROUP BY call;

CREATE TABLE step_c AS
WITH requests AS (
SELECT 'all' AS grp, *,
       e2e_us * 1e0 / nullif(output_tokens, 0) AS ntpot_us,
       -- chunks that came in one read are one chunk: count and longest gap after merging
       CASE WHEN merged IS NULL THEN array_size(gaps_us) ELSE merged.n END AS chunks,
       CASE WHEN whole THEN NULL WHEN merged IS NULL THEN CAST(array_max(slice(gaps_us, 2, array_size(gaps_us))) AS BIGINT) ELSE nullif(merged.widest, -1) END AS max_gap_us
FROM (
  SELECT *,
         -- only streams that have such chunks pay for it; since: from the first chunk of the open group (metrics.md 0.1)
         CASE WHEN array_min(slice(gaps_us, 2, array_size(gaps_us))) <= merge_us
              THEN reduce(slice(gaps_us, 2, array_size(gaps_us)), CAST(struct(0, -1, 1) AS STRUCT<since BIGINT, widest BIGINT, n BIGINT>),
                     (a, g) -> CASE WHEN a.since + g <= merge_us THEN CAST(struct(a.since + g, a.widest, a.n) AS STRUCT<since BIGINT, widest BIGINT, n BIGINT>)
                                    ELSE CAST(struct(0, greatest(a.widest, a.since + g), a.n + 1) AS STRUCT<since BIGINT, widest BIGINT, n BIGINT>) END,
                     a -> a) END AS merged
  FROM (
    SELECT *,
           CASE WHEN latency THEN NULL WHEN NOT generation THEN 'not_generation' WHEN cached_response THEN 'cached_response' ELSE status END AS excluded,
           -- within min(1 ms, a fifth of the stream's own pace, a token or else a chunk) two chunks are one
           CAST(floor(least(1000e0, coalesce(tpot_us, (reduce(gaps_us, CAST(0 AS BIGINT), (s, v) -> s + v) - try_element_at(gaps_us, 1)) * 1e0 / nullif(array_size(gaps_us) - 1, 0)) / 5)) AS BIGINT) AS merge_us
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
                 CASE WHEN clock_domain = 'wall' THEN unix_micros(arrival) END AS arrival_us,
                 coalesce(model_requested, model_served) AS model, model_served, tenant, app, route, replica, deployment,
                 provider, user_hash, endpoint_kind, stream, coalesce(cached_response, FALSE) AS cached_response,
                 CASE WHEN endpoint_kind IS NULL OR endpoint_kind = 'chat' THEN TRUE
                      ELSE endpoint_kind IN ('completions', 'responses', 'messages') END AS generation,
                 -- a map is looked up once a dictionary entry, a chain of comparisons once a row
                 coalesce(try_element_at(map('ok', 'ok', 'client_cancel', 'cancelled', 'client_error', 'client_error', 'context_length', 'client_error', 'timeout', 'failed', 'rate_limited', 'failed', 'upstream_error', 'failed', 'network', 'failed', 'in_flight', 'in_flight', 'unknown', 'unknown'), error_class),
                          -- an answer that a filter emptied is an answer; a refusal with a status of 4xx is the caller's error
                          CASE WHEN error_class <> 'content_filter' THEN 'unknown' WHEN http_status >= 400 THEN 'client_error' ELSE 'ok' END) AS outcome,
                 -- the caller had nothing before it had everything: not streamed, or held back on the way
                 CASE WHEN quality IS NULL THEN NOT stream ELSE contains(quality, 'pseudo_stream') OR NOT stream END AS whole,
                 error_class, http_status, finish_reason,
                 input_tokens, cached_input_tokens AS cached_tokens, output_tokens, reasoning_tokens,
                 output_tokens - reasoning_tokens AS visible_tokens, max_tokens, tokens_source,
                 input_tokens - cached_input_tokens AS uncached_tokens,
                 system_prompt_tokens AS system_tokens, system_prompt_hash AS system_hash, prefix_hash_ids AS prefix_ids,
                 coalesce(CAST(prefix_block_tokens AS DOUBLE), input_tokens * 1e0 / nullif(array_size(prefix_hash_ids), 0)) AS prefix_block_tokens,
                 prefix_block_tokens IS NOT NULL AS prefix_exact,
                 first_us, first_visible_us, last_us, end_us, headers_us, send_lag_us, queue_us, prefill_us, decode_us, engine_first_us,
                 gaps_us, CASE WHEN array_size(chunk_tokens) = array_size(gaps_us) THEN chunk_tokens END AS chunk_tokens
          FROM step_b AS attempts
          WHERE arrival >= TIMESTAMP '2026-11-30 00:53:20.000000Z' AND arrival < TIMESTAMP '2026-12-01 00:53:20.000000Z'
        )
      )
    )
  )
)
),
judged AS (
SELECT *,
       CASE WHEN NOT (CASE WHEN tenant = 'it\u0027s \\ \u0024{x}' THEN TRUE ELSE FALSE END OR FALSE OR FALSE OR FALSE OR FALSE)
              THEN CASE WHEN generation AND NOT cached_response THEN 'unevaluable' ELSE 'excluded' END
            WHEN latency THEN
         CASE WHEN ttft_ok = FALSE OR tpot_ok = FALSE OR e2e_ok = FALSE OR max_gap_ok = FALSE OR ttfvt_ok = FALSE THEN 'bad'
              -- a bound of the row's own that depends on input tokens that are unknown
              WHEN CAST(false AS BOOLEAN) AND input_tokens IS NULL AND ((CASE WHEN tenant = 'it\u0027s \\ \u0024{x}' THEN TRUE ELSE FALSE END AND CASE WHEN tenant = 'it\u0027s \\ \u0024{x}' THEN CAST(1000000 AS BIGINT) ELSE CAST(NULL AS BIGINT) END IS NULL) OR (FALSE AND CAST(NULL AS BIGINT) IS NULL)
                OR (FALSE AND CAST(NULL AS BIGINT) IS NULL)) THEN 'unevaluable'
              -- the usual case first: every term has its measure
              WHEN (NOT CASE WHEN tenant = 'it\u0027s \\ \u0024{x}' THEN TRUE ELSE FALSE END OR ttft_ok) AND (NOT FALSE OR ttfvt_ok) AND (NOT FALSE OR tpot_ok)
               AND (NOT FALSE OR e2e_ok) AND (NOT FALSE OR max_gap_ok) THEN 'good'
              -- a term applies, but the log does not hold its measure
              WHEN FALSE AND e2e_us IS NULL THEN 'unevaluable'
              WHEN whole IS NOT TRUE AND CASE WHEN tenant = 'it\u0027s \\ \u0024{x}' THEN TRUE ELSE FALSE END AND ttft_us IS NULL AND coalesce(output_tokens >= 1, TRUE) THEN 'unevaluable'
              WHEN whole IS NOT TRUE AND FALSE AND ttfvt_us IS NULL AND coalesce(output_tokens >= 1, TRUE) THEN 'unevaluable'
              WHEN whole IS NOT TRUE AND FALSE AND tpot_us IS NULL AND coalesce(paced_tokens >= 2, TRUE) THEN 'unevaluable'
              WHEN whole IS NOT TRUE AND FALSE AND max_gap_us IS NULL AND coalesce(chunks >= 2, output_tokens >= 2, TRUE) THEN 'unevaluable'
              -- no term applies
              WHEN coalesce(ttft_ok, ttfvt_ok, tpot_ok, e2e_ok, max_gap_ok) IS NULL THEN 'unevaluable'
              ELSE 'good' END
            WHEN NOT generation OR cached_response THEN 'excluded'
            WHEN outcome = 'failed' OR (outcome = 'client_error' AND CAST('beside' AS STRING) = 'bad') THEN 'bad'
            WHEN outcome = 'client_error' AND whole AND NOT FALSE THEN 'unevaluable'
            -- cut off: bad when a deadline had passed by then; without a first token the wait lasted until the end
            WHEN outcome IN ('cancelled', 'in_flight')
             AND (end_us > CAST(NULL AS BIGINT)
                  OR ((ttft_us IS NOT NULL OR (stream AND whole IS NOT TRUE)) AND (coalesce(ttft_us, end_us) > CASE WHEN tenant = 'it\u0027s \\ \u0024{x}' THEN CAST(1000000 AS BIGINT) ELSE CAST(NULL AS BIGINT) END OR max_gap_us > CAST(NULL AS BIGINT)
                                    OR coalesce(ttfvt_us, CASE WHEN ttft_us IS NULL THEN end_us END) > CAST(NULL AS BIGINT)))) THEN 'bad'
            ELSE 'excluded' END AS verdict
FROM (
  SELECT *,
         CASE WHEN tenant = 'it\u0027s \\ \u0024{x}' THEN CAST(1000000 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS ttft_slo_us, CAST(NULL AS BIGINT) AS ttfvt_slo_us, CAST(NULL AS BIGINT) AS tpot_slo_us, CAST(NULL AS BIGINT) AS e2e_slo_us,
         CAST(NULL AS BIGINT) AS max_gap_slo_us,
         CASE WHEN whole AND CASE WHEN tenant = 'it\u0027s \\ \u0024{x}' THEN TRUE ELSE FALSE END AND CAST('skip' AS STRING) <> 'skip' THEN CAST('skip' AS STRING) = 'e2e' AND e2e_us <= CASE WHEN tenant = 'it\u0027s \\ \u0024{x}' THEN CAST(1000000 AS BIGINT) ELSE CAST(NULL AS BIGINT) END ELSE ttft_us <= CASE WHEN tenant = 'it\u0027s \\ \u0024{x}' THEN CAST(1000000 AS BIGINT) ELSE CAST(NULL AS BIGINT) END END AS ttft_ok,
         CASE WHEN whole AND FALSE AND CAST('skip' AS STRING) = 'fail' THEN FALSE ELSE ttfvt_us <= CAST(NULL AS BIGINT) END AS ttfvt_ok,
         CASE WHEN whole AND FALSE AND CAST('skip' AS STRING) = 'fail' THEN FALSE ELSE tpot_us <= CAST(NULL AS BIGINT) END AS tpot_ok,
         e2e_us <= CAST(NULL AS BIGINT) AS e2e_ok,
         CASE WHEN whole AND FALSE AND CAST('skip' AS STRING) = 'fail' THEN FALSE ELSE max_gap_us <= CAST(NULL AS BIGINT) END AS max_gap_ok,
         CASE WHEN CASE WHEN tenant = 'it\u0027s \\ \u0024{x}' THEN TRUE ELSE FALSE END THEN 1 ELSE 0 END + CASE WHEN FALSE THEN 2 ELSE 0 END + CASE WHEN FALSE THEN 4 ELSE 0 END
           + CASE WHEN FALSE THEN 8 ELSE 0 END + CASE WHEN FALSE THEN 16 ELSE 0 END AS asked
  FROM requests
)
),
retried AS (
SELECT root_request_id FROM step_b AS attempts WHERE attempt > 1 AND arrival >= TIMESTAMP '2026-11-30 00:53:20.000000Z' AND arrival < TIMESTAMP '2026-12-01 00:53:20.000000Z'
)
SELECT * FROM judged WHERE root_request_id IN (SELECT root_request_id FROM retried);

WITH requests AS (
SELECT 'all' AS grp, *,
       e2e_us * 1e0 / nullif(output_tokens, 0) AS ntpot_us,
       -- chunks that came in one read are one chunk: count and longest gap after merging
       CASE WHEN merged IS NULL THEN array_size(gaps_us) ELSE merged.n END AS chunks,
       CASE WHEN whole THEN NULL WHEN merged IS NULL THEN CAST(array_max(slice(gaps_us, 2, array_size(gaps_us))) AS BIGINT) ELSE nullif(merged.widest, -1) END AS max_gap_us
FROM (
  SELECT *,
         -- only streams that have such chunks pay for it; since: from the first chunk of the open group (metrics.md 0.1)
         CASE WHEN array_min(slice(gaps_us, 2, array_size(gaps_us))) <= merge_us
              THEN reduce(slice(gaps_us, 2, array_size(gaps_us)), CAST(struct(0, -1, 1) AS STRUCT<since BIGINT, widest BIGINT, n BIGINT>),
                     (a, g) -> CASE WHEN a.since + g <= merge_us THEN CAST(struct(a.since + g, a.widest, a.n) AS STRUCT<since BIGINT, widest BIGINT, n BIGINT>)
                                    ELSE CAST(struct(0, greatest(a.widest, a.since + g), a.n + 1) AS STRUCT<since BIGINT, widest BIGINT, n BIGINT>) END,
                     a -> a) END AS merged
  FROM (
    SELECT *,
           CASE WHEN latency THEN NULL WHEN NOT generation THEN 'not_generation' WHEN cached_response THEN 'cached_response' ELSE status END AS excluded,
           -- within min(1 ms, a fifth of the stream's own pace, a token or else a chunk) two chunks are one
           CAST(floor(least(1000e0, coalesce(tpot_us, (reduce(gaps_us, CAST(0 AS BIGINT), (s, v) -> s + v) - try_element_at(gaps_us, 1)) * 1e0 / nullif(array_size(gaps_us) - 1, 0)) / 5)) AS BIGINT) AS merge_us
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
                 CASE WHEN clock_domain = 'wall' THEN unix_micros(arrival) END AS arrival_us,
                 coalesce(model_requested, model_served) AS model, model_served, tenant, app, route, replica, deployment,
                 provider, user_hash, endpoint_kind, stream, coalesce(cached_response, FALSE) AS cached_response,
                 CASE WHEN endpoint_kind IS NULL OR endpoint_kind = 'chat' THEN TRUE
                      ELSE endpoint_kind IN ('completions', 'responses', 'messages') END AS generation,
                 -- a map is looked up once a dictionary entry, a chain of comparisons once a row
                 coalesce(try_element_at(map('ok', 'ok', 'client_cancel', 'cancelled', 'client_error', 'client_error', 'context_length', 'client_error', 'timeout', 'failed', 'rate_limited', 'failed', 'upstream_error', 'failed', 'network', 'failed', 'in_flight', 'in_flight', 'unknown', 'unknown'), error_class),
                          -- an answer that a filter emptied is an answer; a refusal with a status of 4xx is the caller's error
                          CASE WHEN error_class <> 'content_filter' THEN 'unknown' WHEN http_status >= 400 THEN 'client_error' ELSE 'ok' END) AS outcome,
                 -- the caller had nothing before it had everything: not streamed, or held back on the way
                 CASE WHEN quality IS NULL THEN NOT stream ELSE contains(quality, 'pseudo_stream') OR NOT stream END AS whole,
                 error_class, http_status, finish_reason,
                 input_tokens, cached_input_tokens AS cached_tokens, output_tokens, reasoning_tokens,
                 output_tokens - reasoning_tokens AS visible_tokens, max_tokens, tokens_source,
                 input_tokens - cached_input_tokens AS uncached_tokens,
                 system_prompt_tokens AS system_tokens, system_prompt_hash AS system_hash, prefix_hash_ids AS prefix_ids,
                 coalesce(CAST(prefix_block_tokens AS DOUBLE), input_tokens * 1e0 / nullif(array_size(prefix_hash_ids), 0)) AS prefix_block_tokens,
                 prefix_block_tokens IS NOT NULL AS prefix_exact,
                 first_us, first_visible_us, last_us, end_us, headers_us, send_lag_us, queue_us, prefill_us, decode_us, engine_first_us,
                 gaps_us, CASE WHEN array_size(chunk_tokens) = array_size(gaps_us) THEN chunk_tokens END AS chunk_tokens
          FROM step_b AS attempts
          WHERE arrival >= TIMESTAMP '2026-11-30 00:53:20.000000Z' AND arrival < TIMESTAMP '2026-12-01 00:53:20.000000Z'
        )
      )
    )
  )
)
),
judged AS (
SELECT *,
       CASE WHEN NOT (CASE WHEN tenant = 'it\u0027s \\ \u0024{x}' THEN TRUE ELSE FALSE END OR FALSE OR FALSE OR FALSE OR FALSE)
              THEN CASE WHEN generation AND NOT cached_response THEN 'unevaluable' ELSE 'excluded' END
            WHEN latency THEN
         CASE WHEN ttft_ok = FALSE OR tpot_ok = FALSE OR e2e_ok = FALSE OR max_gap_ok = FALSE OR ttfvt_ok = FALSE THEN 'bad'
              -- a bound of the row's own that depends on input tokens that are unknown
              WHEN CAST(false AS BOOLEAN) AND input_tokens IS NULL AND ((CASE WHEN tenant = 'it\u0027s \\ \u0024{x}' THEN TRUE ELSE FALSE END AND CASE WHEN tenant = 'it\u0027s \\ \u0024{x}' THEN CAST(1000000 AS BIGINT) ELSE CAST(NULL AS BIGINT) END IS NULL) OR (FALSE AND CAST(NULL AS BIGINT) IS NULL)
                OR (FALSE AND CAST(NULL AS BIGINT) IS NULL)) THEN 'unevaluable'
              -- the usual case first: every term has its measure
              WHEN (NOT CASE WHEN tenant = 'it\u0027s \\ \u0024{x}' THEN TRUE ELSE FALSE END OR ttft_ok) AND (NOT FALSE OR ttfvt_ok) AND (NOT FALSE OR tpot_ok)
               AND (NOT FALSE OR e2e_ok) AND (NOT FALSE OR max_gap_ok) THEN 'good'
              -- a term applies, but the log does not hold its measure
              WHEN FALSE AND e2e_us IS NULL THEN 'unevaluable'
              WHEN whole IS NOT TRUE AND CASE WHEN tenant = 'it\u0027s \\ \u0024{x}' THEN TRUE ELSE FALSE END AND ttft_us IS NULL AND coalesce(output_tokens >= 1, TRUE) THEN 'unevaluable'
              WHEN whole IS NOT TRUE AND FALSE AND ttfvt_us IS NULL AND coalesce(output_tokens >= 1, TRUE) THEN 'unevaluable'
              WHEN whole IS NOT TRUE AND FALSE AND tpot_us IS NULL AND coalesce(paced_tokens >= 2, TRUE) THEN 'unevaluable'
              WHEN whole IS NOT TRUE AND FALSE AND max_gap_us IS NULL AND coalesce(chunks >= 2, output_tokens >= 2, TRUE) THEN 'unevaluable'
              -- no term applies
              WHEN coalesce(ttft_ok, ttfvt_ok, tpot_ok, e2e_ok, max_gap_ok) IS NULL THEN 'unevaluable'
              ELSE 'good' END
            WHEN NOT generation OR cached_response THEN 'excluded'
            WHEN outcome = 'failed' OR (outcome = 'client_error' AND CAST('beside' AS STRING) = 'bad') THEN 'bad'
            WHEN outcome = 'client_error' AND whole AND NOT FALSE THEN 'unevaluable'
            -- cut off: bad when a deadline had passed by then; without a first token the wait lasted until the end
            WHEN outcome IN ('cancelled', 'in_flight')
             AND (end_us > CAST(NULL AS BIGINT)
                  OR ((ttft_us IS NOT NULL OR (stream AND whole IS NOT TRUE)) AND (coalesce(ttft_us, end_us) > CASE WHEN tenant = 'it\u0027s \\ \u0024{x}' THEN CAST(1000000 AS BIGINT) ELSE CAST(NULL AS BIGINT) END OR max_gap_us > CAST(NULL AS BIGINT)
                                    OR coalesce(ttfvt_us, CASE WHEN ttft_us IS NULL THEN end_us END) > CAST(NULL AS BIGINT)))) THEN 'bad'
            ELSE 'excluded' END AS verdict
FROM (
  SELECT *,
         CASE WHEN tenant = 'it\u0027s \\ \u0024{x}' THEN CAST(1000000 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS ttft_slo_us, CAST(NULL AS BIGINT) AS ttfvt_slo_us, CAST(NULL AS BIGINT) AS tpot_slo_us, CAST(NULL AS BIGINT) AS e2e_slo_us,
         CAST(NULL AS BIGINT) AS max_gap_slo_us,
         CASE WHEN whole AND CASE WHEN tenant = 'it\u0027s \\ \u0024{x}' THEN TRUE ELSE FALSE END AND CAST('skip' AS STRING) <> 'skip' THEN CAST('skip' AS STRING) = 'e2e' AND e2e_us <= CASE WHEN tenant = 'it\u0027s \\ \u0024{x}' THEN CAST(1000000 AS BIGINT) ELSE CAST(NULL AS BIGINT) END ELSE ttft_us <= CASE WHEN tenant = 'it\u0027s \\ \u0024{x}' THEN CAST(1000000 AS BIGINT) ELSE CAST(NULL AS BIGINT) END END AS ttft_ok,
         CASE WHEN whole AND FALSE AND CAST('skip' AS STRING) = 'fail' THEN FALSE ELSE ttfvt_us <= CAST(NULL AS BIGINT) END AS ttfvt_ok,
         CASE WHEN whole AND FALSE AND CAST('skip' AS STRING) = 'fail' THEN FALSE ELSE tpot_us <= CAST(NULL AS BIGINT) END AS tpot_ok,
         e2e_us <= CAST(NULL AS BIGINT) AS e2e_ok,
         CASE WHEN whole AND FALSE AND CAST('skip' AS STRING) = 'fail' THEN FALSE ELSE max_gap_us <= CAST(NULL AS BIGINT) END AS max_gap_ok,
         CASE WHEN CASE WHEN tenant = 'it\u0027s \\ \u0024{x}' THEN TRUE ELSE FALSE END THEN 1 ELSE 0 END + CASE WHEN FALSE THEN 2 ELSE 0 END + CASE WHEN FALSE THEN 4 ELSE 0 END
           + CASE WHEN FALSE THEN 8 ELSE 0 END + CASE WHEN FALSE THEN 16 ELSE 0 END AS asked
  FROM requests
)
),
calls AS (
SELECT *, CAST(NULL AS BIGINT) AS other_attempts, CAST(NULL AS BIGINT) AS other_judged, CAST(NULL AS BIGINT) AS other_good,
       CAST(NULL AS BIGINT) AS other_tokens
FROM judged
WHERE root_request_id NOT IN (SELECT root_request_id FROM step_c AS retries)
UNION ALL
SELECT grp, request_id, root_request_id, attempt, session_id, turn, source_format, told_by, vantage, clock_domain, ttft_kind, quality, arrival_us, model, model_served, tenant, app, route, replica, deployment, provider, user_hash, endpoint_kind, stream, cached_response, generation, outcome, whole, error_class, http_status, finish_reason, input_tokens, cached_tokens, output_tokens, reasoning_tokens, visible_tokens, max_tokens, tokens_source, uncached_tokens, system_tokens, system_hash, prefix_ids, prefix_block_tokens, prefix_exact, first_us, first_visible_us, last_us, end_us, headers_us, send_lag_us, queue_us, prefill_us, decode_us, engine_first_us, gaps_us, chunk_tokens, till_us, latency, streamed, ttft_us, paced_tokens, tpot_us, e2e_us, ttfvt_us, status, excluded, merge_us, merged, ntpot_us, chunks, max_gap_us, ttft_slo_us, ttfvt_slo_us, tpot_slo_us, e2e_slo_us, max_gap_slo_us, ttft_ok, ttfvt_ok, tpot_ok, e2e_ok, max_gap_ok, asked, verdict,
       attempts - 1 AS other_attempts,
       judged_attempts - CASE WHEN verdict IN ('good', 'bad') THEN 1 ELSE 0 END AS other_judged,
       good_attempts - CASE WHEN verdict = 'good' THEN 1 ELSE 0 END AS other_good,
       all_tokens - coalesce(output_tokens, 0) AS other_tokens
FROM (
  SELECT grp, request_id, root_request_id, attempt, session_id, turn, source_format, told_by, vantage, clock_domain, ttft_kind, quality, first_arrival_us AS arrival_us, model, model_served, tenant, app, route, replica, deployment, provider, user_hash, endpoint_kind, stream, cached_response, generation, outcome, whole, error_class, http_status, finish_reason, input_tokens, cached_tokens, output_tokens, reasoning_tokens, visible_tokens, max_tokens, tokens_source, uncached_tokens, system_tokens, system_hash, prefix_ids, prefix_block_tokens, prefix_exact, first_us, first_visible_us, last_us, end_us, headers_us, send_lag_us, queue_us, prefill_us, decode_us, engine_first_us, gaps_us, chunk_tokens, till_us, latency, streamed, waited_us + ttft_us AS ttft_us, paced_tokens, tpot_us, waited_us + e2e_us AS e2e_us, waited_us + ttfvt_us AS ttfvt_us, status, excluded, merge_us, merged, (waited_us + e2e_us) * 1e0 / nullif(output_tokens, 0) AS ntpot_us, chunks, max_gap_us, ttft_slo_us, ttfvt_slo_us, tpot_slo_us, e2e_slo_us, max_gap_slo_us, -- the wait only adds: what was late without it is late
           CASE WHEN ttft_ok THEN waited_us + coalesce(ttft_us, e2e_us) <= ttft_slo_us ELSE ttft_ok END AS ttft_ok, CASE WHEN ttfvt_ok THEN waited_us + ttfvt_us <= ttfvt_slo_us ELSE ttfvt_ok END AS ttfvt_ok, tpot_ok, CASE WHEN e2e_ok THEN waited_us + e2e_us <= e2e_slo_us ELSE e2e_ok END AS e2e_ok, max_gap_ok, asked, -- the earlier attempts may have used up the time that the SLO allows
           CASE WHEN NOT generation OR cached_response THEN verdict
                WHEN latency AND ((ttft_ok AND waited_us + coalesce(ttft_us, e2e_us) > ttft_slo_us) OR waited_us + ttfvt_us > ttfvt_slo_us
                                  OR waited_us + e2e_us > e2e_slo_us) THEN 'bad'
                -- how long the earlier ones took is not known
                WHEN verdict = 'good' AND waited_us IS NULL AND mod(asked, 16) NOT IN (0, 4) THEN 'unevaluable'
                WHEN outcome IN ('cancelled', 'in_flight')
                 AND (waited_us + end_us > e2e_slo_us
                      OR (streamed AND (waited_us + coalesce(ttft_us, end_us) > ttft_slo_us
                            OR waited_us + coalesce(ttfvt_us, CASE WHEN ttft_us IS NULL THEN end_us END) > ttfvt_slo_us))) THEN 'bad'
                ELSE verdict END AS verdict, place, attempts, judged_attempts, good_attempts, all_tokens, first_arrival_us, waited_us
  FROM (
    SELECT *, CASE WHEN attempts = 1 THEN 0 ELSE arrival_us - first_arrival_us END AS waited_us
    FROM (
      SELECT *,
             CAST(row_number() OVER (PARTITION BY root_request_id
               ORDER BY CASE WHEN latency THEN 0 ELSE 1 END NULLS LAST, attempt DESC NULLS LAST, arrival_us DESC NULLS LAST, request_id NULLS LAST) AS BIGINT) AS place,
             count(*) OVER call AS attempts,
             CAST(sum(CASE WHEN verdict IN ('good', 'bad') THEN 1 ELSE 0 END) OVER call AS BIGINT) AS judged_attempts,
             CAST(sum(CASE WHEN verdict = 'good' THEN 1 ELSE 0 END) OVER call AS BIGINT) AS good_attempts,
             CAST(sum(output_tokens) OVER call AS BIGINT) AS all_tokens,
             min(arrival_us) OVER call AS first_arrival_us
      FROM step_c AS retries
      WINDOW call AS (PARTITION BY root_request_id)
    )
  )
  WHERE place = 1
)
),
judged_sets AS (
SELECT 'all' AS grp, verdict, asked,
       CASE WHEN verdict = 'good' THEN 0 WHEN outcome = 'client_error' THEN -2 WHEN outcome <> 'ok' THEN -1
            ELSE CASE WHEN ttft_ok = FALSE THEN 1 ELSE 0 END + CASE WHEN ttfvt_ok = FALSE THEN 2 ELSE 0 END + CASE WHEN tpot_ok = FALSE THEN 4 ELSE 0 END
               + CASE WHEN e2e_ok = FALSE THEN 8 ELSE 0 END + CASE WHEN max_gap_ok = FALSE THEN 16 ELSE 0 END END AS missed,
       coalesce((mod(asked, 2) < 1 OR ttft_ok) AND (mod(asked, 4) < 2 OR ttfvt_ok) AND (mod(asked, 8) < 4 OR tpot_ok) AND (mod(asked, 16) < 8 OR e2e_ok)
                AND (asked < 16 OR max_gap_ok) AND asked > 0, FALSE) AS measured_good,
       CAST(sum(n) AS BIGINT) AS n, CAST(sum(tokens) AS BIGINT) AS tokens, CAST(coalesce(sum(other_attempts), 0) AS BIGINT) AS other_attempts,
       CAST(coalesce(sum(other_judged), 0) AS BIGINT) AS other_judged, CAST(coalesce(sum(other_good), 0) AS BIGINT) AS other_good,
       CAST(coalesce(sum(other_tokens), 0) AS BIGINT) AS other_tokens
FROM (
  -- equal calls are counted first: what follows from their columns, the name of the group too, is then worked out once a set, not once a call;
  -- without other attempts the engine leaves out their sums
  SELECT verdict, asked, outcome, ttfvt_ok, tpot_ok, e2e_ok, max_gap_ok,
         -- the end held against the bound of the first token: met, but not measured
         CASE WHEN CAST('skip' AS STRING) = 'e2e' AND ttft_us IS NULL THEN nullif(ttft_ok, TRUE) ELSE ttft_ok END AS ttft_ok, count(*) AS n,
         CAST(sum(output_tokens) AS BIGINT) AS tokens, CASE WHEN TRUE THEN CAST(sum(other_attempts) AS BIGINT) END AS other_attempts,
         CASE WHEN TRUE THEN CAST(sum(other_judged) AS BIGINT) END AS other_judged, CASE WHEN TRUE THEN CAST(sum(other_good) AS BIGINT) END AS other_good,
         CASE WHEN TRUE THEN CAST(sum(other_tokens) AS BIGINT) END AS other_tokens
  FROM calls
  WHERE generation AND NOT cached_response
  GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
)
GROUP BY 1, 2, 3, 4, 5
),
marked AS (
SELECT *, CASE WHEN verdict IN ('good', 'bad') THEN n ELSE 0 END AS judged, CASE WHEN verdict = 'good' THEN n ELSE 0 END AS good,
         CASE WHEN verdict IN ('good', 'bad') AND missed >= 0 THEN n ELSE 0 END AS answered
  FROM judged_sets
),
summed AS (
SELECT grp, sum(n) AS n, sum(judged) AS judged, nullif(sum(judged), 0) * 1e0 AS base, sum(good) AS good,
         sum(CASE WHEN verdict = 'unevaluable' THEN n ELSE 0 END) AS unevaluable, sum(CASE WHEN verdict = 'excluded' THEN n ELSE 0 END) AS excluded,
         sum(CASE WHEN missed = -2 THEN n ELSE 0 END) AS client_errors,
         CASE WHEN sum(good) > 0 THEN sum(CASE WHEN verdict = 'good' THEN tokens END) WHEN sum(judged) > 0 THEN 0 END AS good_tokens, sum(tokens) AS tokens, sum(other_attempts) AS other_attempts,
         sum(other_judged) AS other_judged, sum(other_good) AS other_good, sum(other_tokens) AS other_tokens,
         sum(CASE WHEN mod(asked, 2) >= 1 THEN judged END) AS ttft_n, sum(CASE WHEN mod(asked, 2) >= 1 AND mod(missed, 2) < 1 THEN answered ELSE 0 END) AS ttft_met,
         sum(CASE WHEN mod(asked, 4) >= 2 THEN judged END) AS ttfvt_n, sum(CASE WHEN mod(asked, 4) >= 2 AND mod(missed, 4) < 2 THEN answered ELSE 0 END) AS ttfvt_met,
         sum(CASE WHEN mod(asked, 8) >= 4 THEN judged END) AS tpot_n, sum(CASE WHEN mod(asked, 8) >= 4 AND mod(missed, 8) < 4 THEN answered ELSE 0 END) AS tpot_met,
         sum(CASE WHEN mod(asked, 16) >= 8 THEN judged END) AS e2e_n, sum(CASE WHEN mod(asked, 16) >= 8 AND mod(missed, 16) < 8 THEN answered ELSE 0 END) AS e2e_met,
         sum(CASE WHEN asked >= 16 THEN judged END) AS max_gap_n, sum(CASE WHEN asked >= 16 AND missed < 16 THEN answered ELSE 0 END) AS max_gap_met
  FROM marked
  GROUP BY grp
),
intervals AS (
SELECT summed.*, good / base AS attainment, (good + 1.9207294103470844e0) / (base + 3.841458820694169e0) AS middle,
         1.959963984540054e0 / (base + 3.841458820694169e0) * sqrt(good * (1 - good / base) + 9.603647051735422e-1) AS half
  FROM summed
),
covered AS (
SELECT start_us, end_us, CASE WHEN end_us > start_us THEN (end_us - start_us) / 1e6 END AS seconds
FROM (
  SELECT coalesce(CAST(1796000000000000 AS BIGINT), unix_micros(min(arrival))) AS start_us, coalesce(CAST(1796086400000000 AS BIGINT), max(unix_micros(arrival) + coalesce(end_us, 0))) AS end_us
  FROM step_b AS attempts
  WHERE (CAST(1796000000000000 AS BIGINT) IS NULL OR CAST(1796086400000000 AS BIGINT) IS NULL) AND arrival >= TIMESTAMP '2026-11-30 00:53:20.000000Z' AND arrival < TIMESTAMP '2026-12-01 00:53:20.000000Z' AND clock_domain = 'wall'
)
)
SELECT grp, CAST(n AS BIGINT) AS n, CAST(good AS BIGINT) AS good, CAST(judged - good AS BIGINT) AS bad, CAST(unevaluable AS BIGINT) AS unevaluable,
       CAST(excluded AS BIGINT) AS excluded, CAST(client_errors AS BIGINT) AS client_errors, attainment,
       -- without the noise of the last bits at the ends
       CASE WHEN good = 0 AND base > 0 THEN 0e0 ELSE middle - half END AS attainment_low,
       CASE WHEN good = base THEN 1e0 ELSE middle + half END AS attainment_high, ttft_met * 1e0 / nullif(ttft_n, 0) AS ttft_attainment,
       ttfvt_met * 1e0 / nullif(ttfvt_n, 0) AS ttfvt_attainment, tpot_met * 1e0 / nullif(tpot_n, 0) AS tpot_attainment,
       e2e_met * 1e0 / nullif(e2e_n, 0) AS e2e_attainment, max_gap_met * 1e0 / nullif(max_gap_n, 0) AS max_gap_attainment,
       CAST(n + other_attempts AS BIGINT) AS attempts, (good + other_good) * 1e0 / nullif(judged + other_judged, 0) AS attempt_attainment,
       CASE WHEN base > 0 THEN good / seconds END AS goodput_per_s, good_tokens / seconds AS token_goodput_per_s, (tokens + other_tokens) / seconds AS delivered_per_s,
       good_tokens * 1e0 / nullif(tokens + other_tokens, 0) AS goodput_ratio, seconds
FROM intervals CROSS JOIN covered
ORDER BY grp NULLS LAST;
