CREATE TABLE step_a AS
WITH attempts AS (
SELECT *, source_format AS told_by, CASE WHEN vantage = 'engine' AND queue_us IS NOT NULL THEN first_us END AS engine_first_us FROM "hive"."llm"."logs" /* run */
),
requests AS (
SELECT 'all' AS grp, *,
       e2e_us * 1e0 / nullif(output_tokens, 0) AS ntpot_us,
       -- chunks that came in one read are one chunk: count and longest gap after merging
       CASE WHEN merged IS NULL THEN cardinality(gaps_us) ELSE merged.n END AS chunks,
       CASE WHEN whole THEN NULL WHEN merged IS NULL THEN CAST(array_max(slice(gaps_us, 2, cardinality(gaps_us))) AS BIGINT) ELSE nullif(merged.widest, -1) END AS max_gap_us
FROM (
  SELECT *,
         -- only streams that have such chunks pay for it; since: from the first chunk of the open group (metrics.md 0.1)
         CASE WHEN array_min(slice(gaps_us, 2, cardinality(gaps_us))) <= merge_us
              THEN reduce(slice(gaps_us, 2, cardinality(gaps_us)), CAST(ROW(0, -1, 1) AS ROW(since BIGINT, widest BIGINT, n BIGINT)),
                     (a, g) -> CASE WHEN a.since + g <= merge_us THEN CAST(ROW(a.since + g, a.widest, a.n) AS ROW(since BIGINT, widest BIGINT, n BIGINT))
                                    ELSE CAST(ROW(0, array_max(filter(ARRAY[a.widest, a.since + g], v -> v IS NOT NULL)), a.n + 1) AS ROW(since BIGINT, widest BIGINT, n BIGINT)) END,
                     a -> a) END AS merged
  FROM (
    SELECT *,
           CASE WHEN latency THEN NULL WHEN NOT generation THEN 'not_generation' WHEN cached_response THEN 'cached_response' ELSE status END AS excluded,
           -- within min(1 ms, a fifth of the stream's own pace, a token or else a chunk) two chunks are one
           CAST(floor(array_min(filter(ARRAY[1000e0, coalesce(tpot_us, (reduce(CAST(gaps_us AS ARRAY(BIGINT)), CAST(0 AS BIGINT), (s, v) -> s + v, s -> s) - element_at(gaps_us, 1)) * 1e0 / nullif(cardinality(gaps_us) - 1, 0)) / 5], v -> v IS NOT NULL))) AS BIGINT) AS merge_us
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
                 CASE WHEN TRUE THEN CAST(round(to_unixtime(arrival) * 1e6) AS BIGINT) END AS arrival_us,
                 coalesce(model_requested, model_served) AS model, model_served, tenant, app, route, replica, deployment,
                 provider, user_hash, endpoint_kind, stream, coalesce(cached_response, FALSE) AS cached_response,
                 CASE WHEN endpoint_kind IS NULL OR endpoint_kind = 'chat' THEN TRUE
                      ELSE endpoint_kind IN ('completions', 'responses', 'messages') END AS generation,
                 -- a map is looked up once a dictionary entry, a chain of comparisons once a row
                 coalesce(element_at(MAP(ARRAY['ok', 'client_cancel', 'client_error', 'context_length', 'timeout', 'rate_limited', 'upstream_error', 'network', 'in_flight', 'unknown'], ARRAY['ok', 'cancelled', 'client_error', 'client_error', 'failed', 'failed', 'failed', 'failed', 'in_flight', 'unknown']), error_class),
                          -- an answer that a filter emptied is an answer; a refusal with a status of 4xx is the caller's error
                          CASE WHEN error_class <> 'content_filter' THEN 'unknown' WHEN http_status >= 400 THEN 'client_error' ELSE 'ok' END) AS outcome,
                 -- the caller had nothing before it had everything: not streamed, or held back on the way
                 CASE WHEN quality IS NULL THEN NOT stream ELSE (strpos(quality, 'pseudo_stream') > 0) OR NOT stream END AS whole,
                 error_class, http_status, finish_reason,
                 input_tokens, cached_input_tokens AS cached_tokens, output_tokens, reasoning_tokens,
                 output_tokens - reasoning_tokens AS visible_tokens, max_tokens, tokens_source,
                 input_tokens - cached_input_tokens AS uncached_tokens,
                 system_prompt_tokens AS system_tokens, system_prompt_hash AS system_hash, prefix_hash_ids AS prefix_ids,
                 coalesce(CAST(prefix_block_tokens AS DOUBLE), input_tokens * 1e0 / nullif(cardinality(prefix_hash_ids), 0)) AS prefix_block_tokens,
                 prefix_block_tokens IS NOT NULL AS prefix_exact,
                 first_us, first_visible_us, last_us, end_us, headers_us, send_lag_us, queue_us, prefill_us, decode_us, engine_first_us,
                 gaps_us, CASE WHEN cardinality(chunk_tokens) = cardinality(gaps_us) THEN chunk_tokens END AS chunk_tokens
          FROM attempts
          WHERE TRUE
        )
      )
    )
  )
)
),
arrived AS (
SELECT request_id, attempt, coalesce(tenant, '(unknown)') AS tenant, app, route, coalesce(model, '') AS model, replica, arrival_us,
         arrival_us + ttft_us AS first_at_us, end_us AS whole_us, queue_us, prefill_us, input_tokens,
         CASE WHEN uncached_tokens >= 0 THEN uncached_tokens END AS uncached_tokens
  FROM requests
  WHERE replica IS NOT NULL AND arrival_us IS NOT NULL AND generation AND NOT cached_response
    AND (ttft_us IS NOT NULL OR status IN ('ok', 'ok_length', 'cancelled', 'unknown'))
),
kin AS (
SELECT model, tenant, app, route, element_at(transform(ARRAY[array_agg(CAST(uncached_tokens AS DOUBLE) ORDER BY uncached_tokens) FILTER (WHERE uncached_tokens IS NOT NULL)], s -> element_at(s, CAST(floor((cardinality(s) - 1) * 0.5e0) AS BIGINT) + 1) + ((cardinality(s) - 1) * 0.5e0 - floor((cardinality(s) - 1) * 0.5e0)) * (element_at(s, CAST(ceil((cardinality(s) - 1) * 0.5e0) AS BIGINT) + 1) - element_at(s, CAST(floor((cardinality(s) - 1) * 0.5e0) AS BIGINT) + 1))), 1) AS kin_tokens FROM arrived GROUP BY model, tenant, app, route
),
models AS (
SELECT model, element_at(transform(ARRAY[array_agg(CAST(uncached_tokens AS DOUBLE) ORDER BY uncached_tokens) FILTER (WHERE uncached_tokens IS NOT NULL)], s -> element_at(s, CAST(floor((cardinality(s) - 1) * 0.5e0) AS BIGINT) + 1) + ((cardinality(s) - 1) * 0.5e0 - floor((cardinality(s) - 1) * 0.5e0)) * (element_at(s, CAST(ceil((cardinality(s) - 1) * 0.5e0) AS BIGINT) + 1) - element_at(s, CAST(floor((cardinality(s) - 1) * 0.5e0) AS BIGINT) + 1))), 1) AS model_tokens FROM arrived GROUP BY model
),
arrived_prompts AS (
SELECT a.request_id, a.attempt, a.tenant, a.model, a.replica, a.arrival_us, first_at_us, whole_us, queue_us, prefill_us,
       coalesce(uncached_tokens, kin_tokens, model_tokens, input_tokens, 0) * 1e0 AS tokens
FROM arrived AS a
LEFT JOIN kin AS k ON k.model = a.model AND k.tenant = a.tenant AND k.app IS NOT DISTINCT FROM a.app AND k.route IS NOT DISTINCT FROM a.route
LEFT JOIN models AS m ON m.model = a.model
),
prefill_costs AS (
SELECT model, a_us, token_us
FROM unnest(CAST(json_parse(coalesce(CAST(NULL AS VARCHAR), '[]')) AS ARRAY(ROW(model VARCHAR, a_us DOUBLE, token_us DOUBLE)))) AS listed(model, a_us, token_us)
),
costed AS (
SELECT s.*, a_us, token_us, prefill_us IS NOT NULL AND (first_at_us IS NOT NULL OR queue_us IS NOT NULL) AS measured
  FROM arrived_prompts AS s LEFT JOIN prefill_costs AS f ON f.model = s.model
)
SELECT *, CASE WHEN measured THEN 'measured' WHEN first_at_us IS NOT NULL THEN 'fitted' ELSE 'assumed' END AS source
  FROM costed
  WHERE measured OR token_us IS NOT NULL;

CREATE TABLE step_b AS
WITH marked AS (
SELECT *, CASE WHEN first_at_us - lag(first_at_us) OVER (PARTITION BY replica ORDER BY first_at_us) <= 1000 THEN 0 ELSE 1 END AS fresh
  FROM step_a AS kinds
  WHERE source = 'fitted'
),
stepped AS (
SELECT *, sum(fresh) OVER (PARTITION BY replica ORDER BY first_at_us ROWS UNBOUNDED PRECEDING) AS step
  FROM marked
),
joint AS (
SELECT replica, step, sum(tokens) AS step_tokens, count(*) AS step_requests, min(arrival_us) AS floor_us, max(first_at_us) AS step_first_us
  FROM stepped
  GROUP BY replica, step
),
lengths AS (
SELECT request_id, attempt, tenant, model, s.replica, arrival_us, source, tokens, step_tokens, step_requests, floor_us, fresh = 1 AS leads,
         CAST(round(a_us + token_us * step_tokens) AS BIGINT) AS cost_us, step_first_us AS end_us
  FROM stepped AS s JOIN joint AS j ON j.replica = s.replica AND j.step = s.step
  UNION ALL
  SELECT request_id, attempt, tenant, model, replica, arrival_us, source, tokens, tokens, 1, arrival_us, TRUE, prefill_us,
         coalesce(first_at_us, arrival_us + queue_us + prefill_us)
  FROM step_a AS kinds
  WHERE source = 'measured'
  UNION ALL
  SELECT request_id, attempt, tenant, model, replica, arrival_us, source, tokens, tokens, 1, arrival_us, TRUE, CAST(round(a_us + token_us * tokens) AS BIGINT),
         arrival_us + array_min(filter(ARRAY[CAST(round(a_us + token_us * tokens) AS BIGINT), coalesce(whole_us, CAST(round(a_us + token_us * tokens) AS BIGINT))], v -> v IS NOT NULL))
  FROM step_a AS kinds
  WHERE source = 'assumed'
)
SELECT request_id, attempt, tenant, model, replica, arrival_us, source, floor_us, array_max(filter(ARRAY[floor_us, end_us - cost_us], v -> v IS NOT NULL)) AS start_us, end_us, tokens,
       CASE WHEN step_tokens > 0 THEN tokens / step_tokens ELSE 1e0 / step_requests END AS share, leads
FROM lengths
WHERE end_us > array_max(filter(ARRAY[floor_us, end_us - cost_us], v -> v IS NOT NULL)) AND end_us - array_max(filter(ARRAY[floor_us, end_us - cost_us], v -> v IS NOT NULL)) <= 600000000;

CREATE TABLE step_c AS
WITH attempts AS (
SELECT *, source_format AS told_by, CASE WHEN vantage = 'engine' AND queue_us IS NOT NULL THEN first_us END AS engine_first_us FROM "hive"."llm"."logs" /* run */
),
requests AS (
SELECT 'all' AS grp, *,
       e2e_us * 1e0 / nullif(output_tokens, 0) AS ntpot_us,
       -- chunks that came in one read are one chunk: count and longest gap after merging
       CASE WHEN merged IS NULL THEN cardinality(gaps_us) ELSE merged.n END AS chunks,
       CASE WHEN whole THEN NULL WHEN merged IS NULL THEN CAST(array_max(slice(gaps_us, 2, cardinality(gaps_us))) AS BIGINT) ELSE nullif(merged.widest, -1) END AS max_gap_us
FROM (
  SELECT *,
         -- only streams that have such chunks pay for it; since: from the first chunk of the open group (metrics.md 0.1)
         CASE WHEN array_min(slice(gaps_us, 2, cardinality(gaps_us))) <= merge_us
              THEN reduce(slice(gaps_us, 2, cardinality(gaps_us)), CAST(ROW(0, -1, 1) AS ROW(since BIGINT, widest BIGINT, n BIGINT)),
                     (a, g) -> CASE WHEN a.since + g <= merge_us THEN CAST(ROW(a.since + g, a.widest, a.n) AS ROW(since BIGINT, widest BIGINT, n BIGINT))
                                    ELSE CAST(ROW(0, array_max(filter(ARRAY[a.widest, a.since + g], v -> v IS NOT NULL)), a.n + 1) AS ROW(since BIGINT, widest BIGINT, n BIGINT)) END,
                     a -> a) END AS merged
  FROM (
    SELECT *,
           CASE WHEN latency THEN NULL WHEN NOT generation THEN 'not_generation' WHEN cached_response THEN 'cached_response' ELSE status END AS excluded,
           -- within min(1 ms, a fifth of the stream's own pace, a token or else a chunk) two chunks are one
           CAST(floor(array_min(filter(ARRAY[1000e0, coalesce(tpot_us, (reduce(CAST(gaps_us AS ARRAY(BIGINT)), CAST(0 AS BIGINT), (s, v) -> s + v, s -> s) - element_at(gaps_us, 1)) * 1e0 / nullif(cardinality(gaps_us) - 1, 0)) / 5], v -> v IS NOT NULL))) AS BIGINT) AS merge_us
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
                 CASE WHEN TRUE THEN CAST(round(to_unixtime(arrival) * 1e6) AS BIGINT) END AS arrival_us,
                 coalesce(model_requested, model_served) AS model, model_served, tenant, app, route, replica, deployment,
                 provider, user_hash, endpoint_kind, stream, coalesce(cached_response, FALSE) AS cached_response,
                 CASE WHEN endpoint_kind IS NULL OR endpoint_kind = 'chat' THEN TRUE
                      ELSE endpoint_kind IN ('completions', 'responses', 'messages') END AS generation,
                 -- a map is looked up once a dictionary entry, a chain of comparisons once a row
                 coalesce(element_at(MAP(ARRAY['ok', 'client_cancel', 'client_error', 'context_length', 'timeout', 'rate_limited', 'upstream_error', 'network', 'in_flight', 'unknown'], ARRAY['ok', 'cancelled', 'client_error', 'client_error', 'failed', 'failed', 'failed', 'failed', 'in_flight', 'unknown']), error_class),
                          -- an answer that a filter emptied is an answer; a refusal with a status of 4xx is the caller's error
                          CASE WHEN error_class <> 'content_filter' THEN 'unknown' WHEN http_status >= 400 THEN 'client_error' ELSE 'ok' END) AS outcome,
                 -- the caller had nothing before it had everything: not streamed, or held back on the way
                 CASE WHEN quality IS NULL THEN NOT stream ELSE (strpos(quality, 'pseudo_stream') > 0) OR NOT stream END AS whole,
                 error_class, http_status, finish_reason,
                 input_tokens, cached_input_tokens AS cached_tokens, output_tokens, reasoning_tokens,
                 output_tokens - reasoning_tokens AS visible_tokens, max_tokens, tokens_source,
                 input_tokens - cached_input_tokens AS uncached_tokens,
                 system_prompt_tokens AS system_tokens, system_prompt_hash AS system_hash, prefix_hash_ids AS prefix_ids,
                 coalesce(CAST(prefix_block_tokens AS DOUBLE), input_tokens * 1e0 / nullif(cardinality(prefix_hash_ids), 0)) AS prefix_block_tokens,
                 prefix_block_tokens IS NOT NULL AS prefix_exact,
                 first_us, first_visible_us, last_us, end_us, headers_us, send_lag_us, queue_us, prefill_us, decode_us, engine_first_us,
                 gaps_us, CASE WHEN cardinality(chunk_tokens) = cardinality(gaps_us) THEN chunk_tokens END AS chunk_tokens
          FROM attempts
          WHERE TRUE
        )
      )
    )
  )
)
),
request_lists AS (
SELECT *, chunk_tokens IS NOT NULL AS told,
       reduce(filter(ARRAY[array_sort(filter(weights, w -> w IS NOT NULL))], w -> cardinality(w) > 0), CAST(NULL AS DOUBLE),
              (m, w) -> (element_at(w, CAST((cardinality(w) + 1) / 2 AS INTEGER)) + element_at(w, CAST(cardinality(w) / 2 AS INTEGER) + 1)) / 2e0, m -> m) AS usual_weight
FROM (
  SELECT *, CASE WHEN merged IS NULL THEN CAST(gaps_us AS ARRAY(BIGINT)) ELSE together.lengths END AS steps,
         CASE WHEN merged IS NULL THEN CAST(chunk_tokens AS ARRAY(BIGINT)) ELSE together.counts || ARRAY[together.count] END AS weights
  FROM (
    SELECT *,
           CASE WHEN merged IS NOT NULL THEN reduce(
             sequence(2, cardinality(gaps_us)),
             CAST(ROW(0, coalesce(element_at(chunk_tokens, 1), 1), ARRAY[element_at(gaps_us, 1)], ARRAY[]) AS ROW(since BIGINT, count BIGINT, lengths ARRAY(BIGINT), counts ARRAY(BIGINT))),
             (a, i) -> CASE WHEN a.since + gaps_us[i] <= merge_us
                            THEN CAST(ROW(a.since + gaps_us[i], a.count + coalesce(chunk_tokens[i], 1), a.lengths, a.counts)
                                      AS ROW(since BIGINT, count BIGINT, lengths ARRAY(BIGINT), counts ARRAY(BIGINT)))
                            ELSE CAST(ROW(0, coalesce(chunk_tokens[i], 1), a.lengths || ARRAY[a.since + gaps_us[i]], a.counts || ARRAY[a.count])
                                      AS ROW(since BIGINT, count BIGINT, lengths ARRAY(BIGINT), counts ARRAY(BIGINT))) END,
             a -> a) END AS together
    FROM requests
  )
)
),
stream_shapes AS (
SELECT request_id, attempt, grp, tenant, model, replica, arrival_us, ttft_us, last_us, end_us, tpot_us, output_tokens, paced_tokens, tokens_source, latency, streamed, chunks, usual_weight
FROM request_lists
),
decode_streams AS (
SELECT request_id, attempt, arrival_us, grp, coalesce(tenant, '(unknown)') AS tenant, coalesce(model, '') AS model, replica, arrival_us + ttft_us AS start_us,
       arrival_us + coalesce(last_us, end_us) AS end_us, paced_tokens, latency, chunks,
       coalesce(tokens_source = 'estimated', FALSE) AS estimated
FROM stream_shapes
WHERE replica IS NOT NULL AND coalesce(last_us, end_us) > ttft_us AND arrival_us IS NOT NULL
),
edges AS (
SELECT replica, start_us AS at_us, 0 AS change, end_us AS until_us, NULL AS waiting_us, 0 AS waited_us,
         array_max(filter(ARRAY[0, end_us - array_max(filter(ARRAY[start_us, coalesce(max(end_us) OVER (PARTITION BY replica ORDER BY start_us, end_us, request_id, attempt
                                                                           ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), start_us)], v -> v IS NOT NULL))], v -> v IS NOT NULL)) AS fresh_us
  FROM step_b AS prefill_windows
  UNION ALL
  SELECT replica, arrival_us, 0, NULL, end_us,
         array_max(filter(ARRAY[0, end_us - array_max(filter(ARRAY[arrival_us, coalesce(max(end_us) OVER (PARTITION BY replica ORDER BY arrival_us, end_us, request_id, attempt
                                                                             ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), arrival_us)], v -> v IS NOT NULL))], v -> v IS NOT NULL)), 0
  FROM step_b AS prefill_windows
  UNION ALL SELECT replica, start_us, 1, NULL, NULL, 0, 0 FROM decode_streams
  UNION ALL SELECT replica, end_us, -1, NULL, NULL, 0, 0 FROM decode_streams
),
steps AS (
SELECT replica, at_us, sum(change) AS change, max(until_us) AS until_us, sum(fresh_us) AS fresh_us, max(waiting_us) AS waiting_us, sum(waited_us) AS waited_us
  FROM edges
  GROUP BY replica, at_us
)
SELECT replica, at_us, CAST(sum(change) OVER past AS BIGINT) AS streams,
         coalesce(max(until_us) OVER past, 0) AS until_us, CAST(sum(fresh_us) OVER past AS BIGINT) AS fresh_us,
         coalesce(max(waiting_us) OVER past, 0) AS waiting_us, CAST(sum(waited_us) OVER past AS BIGINT) AS waited_us
  FROM steps
  WINDOW past AS (PARTITION BY replica ORDER BY at_us ROWS UNBOUNDED PRECEDING);

CREATE TABLE step_d AS
WITH attempts AS (
SELECT *, source_format AS told_by, CASE WHEN vantage = 'engine' AND queue_us IS NOT NULL THEN first_us END AS engine_first_us FROM "hive"."llm"."logs" /* run */
),
requests AS (
SELECT 'all' AS grp, *,
       e2e_us * 1e0 / nullif(output_tokens, 0) AS ntpot_us,
       -- chunks that came in one read are one chunk: count and longest gap after merging
       CASE WHEN merged IS NULL THEN cardinality(gaps_us) ELSE merged.n END AS chunks,
       CASE WHEN whole THEN NULL WHEN merged IS NULL THEN CAST(array_max(slice(gaps_us, 2, cardinality(gaps_us))) AS BIGINT) ELSE nullif(merged.widest, -1) END AS max_gap_us
FROM (
  SELECT *,
         -- only streams that have such chunks pay for it; since: from the first chunk of the open group (metrics.md 0.1)
         CASE WHEN array_min(slice(gaps_us, 2, cardinality(gaps_us))) <= merge_us
              THEN reduce(slice(gaps_us, 2, cardinality(gaps_us)), CAST(ROW(0, -1, 1) AS ROW(since BIGINT, widest BIGINT, n BIGINT)),
                     (a, g) -> CASE WHEN a.since + g <= merge_us THEN CAST(ROW(a.since + g, a.widest, a.n) AS ROW(since BIGINT, widest BIGINT, n BIGINT))
                                    ELSE CAST(ROW(0, array_max(filter(ARRAY[a.widest, a.since + g], v -> v IS NOT NULL)), a.n + 1) AS ROW(since BIGINT, widest BIGINT, n BIGINT)) END,
                     a -> a) END AS merged
  FROM (
    SELECT *,
           CASE WHEN latency THEN NULL WHEN NOT generation THEN 'not_generation' WHEN cached_response THEN 'cached_response' ELSE status END AS excluded,
           -- within min(1 ms, a fifth of the stream's own pace, a token or else a chunk) two chunks are one
           CAST(floor(array_min(filter(ARRAY[1000e0, coalesce(tpot_us, (reduce(CAST(gaps_us AS ARRAY(BIGINT)), CAST(0 AS BIGINT), (s, v) -> s + v, s -> s) - element_at(gaps_us, 1)) * 1e0 / nullif(cardinality(gaps_us) - 1, 0)) / 5], v -> v IS NOT NULL))) AS BIGINT) AS merge_us
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
                 CASE WHEN TRUE THEN CAST(round(to_unixtime(arrival) * 1e6) AS BIGINT) END AS arrival_us,
                 coalesce(model_requested, model_served) AS model, model_served, tenant, app, route, replica, deployment,
                 provider, user_hash, endpoint_kind, stream, coalesce(cached_response, FALSE) AS cached_response,
                 CASE WHEN endpoint_kind IS NULL OR endpoint_kind = 'chat' THEN TRUE
                      ELSE endpoint_kind IN ('completions', 'responses', 'messages') END AS generation,
                 -- a map is looked up once a dictionary entry, a chain of comparisons once a row
                 coalesce(element_at(MAP(ARRAY['ok', 'client_cancel', 'client_error', 'context_length', 'timeout', 'rate_limited', 'upstream_error', 'network', 'in_flight', 'unknown'], ARRAY['ok', 'cancelled', 'client_error', 'client_error', 'failed', 'failed', 'failed', 'failed', 'in_flight', 'unknown']), error_class),
                          -- an answer that a filter emptied is an answer; a refusal with a status of 4xx is the caller's error
                          CASE WHEN error_class <> 'content_filter' THEN 'unknown' WHEN http_status >= 400 THEN 'client_error' ELSE 'ok' END) AS outcome,
                 -- the caller had nothing before it had everything: not streamed, or held back on the way
                 CASE WHEN quality IS NULL THEN NOT stream ELSE (strpos(quality, 'pseudo_stream') > 0) OR NOT stream END AS whole,
                 error_class, http_status, finish_reason,
                 input_tokens, cached_input_tokens AS cached_tokens, output_tokens, reasoning_tokens,
                 output_tokens - reasoning_tokens AS visible_tokens, max_tokens, tokens_source,
                 input_tokens - cached_input_tokens AS uncached_tokens,
                 system_prompt_tokens AS system_tokens, system_prompt_hash AS system_hash, prefix_hash_ids AS prefix_ids,
                 coalesce(CAST(prefix_block_tokens AS DOUBLE), input_tokens * 1e0 / nullif(cardinality(prefix_hash_ids), 0)) AS prefix_block_tokens,
                 prefix_block_tokens IS NOT NULL AS prefix_exact,
                 first_us, first_visible_us, last_us, end_us, headers_us, send_lag_us, queue_us, prefill_us, decode_us, engine_first_us,
                 gaps_us, CASE WHEN cardinality(chunk_tokens) = cardinality(gaps_us) THEN chunk_tokens END AS chunk_tokens
          FROM attempts
          WHERE TRUE
        )
      )
    )
  )
)
),
request_lists AS (
SELECT *, chunk_tokens IS NOT NULL AS told,
       reduce(filter(ARRAY[array_sort(filter(weights, w -> w IS NOT NULL))], w -> cardinality(w) > 0), CAST(NULL AS DOUBLE),
              (m, w) -> (element_at(w, CAST((cardinality(w) + 1) / 2 AS INTEGER)) + element_at(w, CAST(cardinality(w) / 2 AS INTEGER) + 1)) / 2e0, m -> m) AS usual_weight
FROM (
  SELECT *, CASE WHEN merged IS NULL THEN CAST(gaps_us AS ARRAY(BIGINT)) ELSE together.lengths END AS steps,
         CASE WHEN merged IS NULL THEN CAST(chunk_tokens AS ARRAY(BIGINT)) ELSE together.counts || ARRAY[together.count] END AS weights
  FROM (
    SELECT *,
           CASE WHEN merged IS NOT NULL THEN reduce(
             sequence(2, cardinality(gaps_us)),
             CAST(ROW(0, coalesce(element_at(chunk_tokens, 1), 1), ARRAY[element_at(gaps_us, 1)], ARRAY[]) AS ROW(since BIGINT, count BIGINT, lengths ARRAY(BIGINT), counts ARRAY(BIGINT))),
             (a, i) -> CASE WHEN a.since + gaps_us[i] <= merge_us
                            THEN CAST(ROW(a.since + gaps_us[i], a.count + coalesce(chunk_tokens[i], 1), a.lengths, a.counts)
                                      AS ROW(since BIGINT, count BIGINT, lengths ARRAY(BIGINT), counts ARRAY(BIGINT)))
                            ELSE CAST(ROW(0, coalesce(chunk_tokens[i], 1), a.lengths || ARRAY[a.since + gaps_us[i]], a.counts || ARRAY[a.count])
                                      AS ROW(since BIGINT, count BIGINT, lengths ARRAY(BIGINT), counts ARRAY(BIGINT))) END,
             a -> a) END AS together
    FROM requests
  )
)
),
gap_lists AS (
SELECT request_id, attempt, grp, model, tenant, replica, arrival_us, told, steps, weights, usual_weight
FROM request_lists
WHERE latency AND streamed AND chunks >= 2
),
gaps AS (
SELECT request_id, attempt, arrival_us, grp, model, tenant, replica, k, gap_us, CASE WHEN told THEN weight END AS tokens, coalesce(weight, 1) AS weight,
       coalesce(usual_weight, 1) AS usual_weight, arrival_us + reduce(slice(steps, 1, CAST(k AS INTEGER)), CAST(0 AS BIGINT), (s, x) -> s + x, s -> s) AS end_us
FROM gap_lists CROSS JOIN unnest(steps, weights) WITH ORDINALITY AS listed(gap_us, weight, k)
WHERE k > 1
),
stream_shapes AS (
SELECT request_id, attempt, grp, tenant, model, replica, arrival_us, ttft_us, last_us, end_us, tpot_us, output_tokens, paced_tokens, tokens_source, latency, streamed, chunks, usual_weight
FROM request_lists
),
streams AS (
SELECT request_id, attempt, arrival_us, grp, coalesce(replica, '') AS replica, tpot_us, usual_weight >= 8 AS bursts FROM stream_shapes
  WHERE latency AND streamed AND chunks >= 2
),
paces AS (
SELECT replica, element_at(transform(ARRAY[array_agg(CAST(tpot_us AS DOUBLE) ORDER BY tpot_us) FILTER (WHERE tpot_us IS NOT NULL)], s -> element_at(s, CAST(floor((cardinality(s) - 1) * 0.5e0) AS BIGINT) + 1) + ((cardinality(s) - 1) * 0.5e0 - floor((cardinality(s) - 1) * 0.5e0)) * (element_at(s, CAST(ceil((cardinality(s) - 1) * 0.5e0) AS BIGINT) + 1) - element_at(s, CAST(floor((cardinality(s) - 1) * 0.5e0) AS BIGINT) + 1))), 1) AS pace_us FROM streams WHERE coalesce(NOT bursts, TRUE) GROUP BY replica
),
buffered AS (
SELECT request_id, attempt, arrival_us, grp
FROM streams AS s LEFT JOIN paces AS p ON p.replica = s.replica
WHERE bursts AND coalesce(tpot_us BETWEEN pace_us / 3 AND pace_us * 3, TRUE)
UNION ALL
SELECT request_id, attempt, arrival_us, grp FROM stream_shapes WHERE latency AND streamed AND chunks = 1 AND output_tokens >= 8
),
paced_streams AS (
SELECT g.request_id, g.attempt, g.grp, coalesce(tenant, '(unknown)') AS tenant, g.replica, g.arrival_us, steps, weights, usual_weight
FROM gap_lists AS g LEFT JOIN buffered AS b ON b.request_id = g.request_id AND b.attempt = g.attempt AND b.arrival_us = g.arrival_us
WHERE g.replica IS NOT NULL AND g.arrival_us IS NOT NULL AND b.request_id IS NULL AND CAST(true AS BOOLEAN)
),
seen AS (
SELECT request_id, attempt, arrival_us, grp, coalesce(tenant, '(unknown)') AS tenant, replica, k, gap_us, end_us - gap_us AS start_us, end_us,
         array_max(filter(ARRAY[1e0, weight / nullif(usual_weight, 0)], v -> v IS NOT NULL)) AS load
  FROM gaps WHERE (request_id, attempt, arrival_us) IN (SELECT request_id, attempt, arrival_us FROM paced_streams) AND end_us IS NOT NULL
),
placed AS (
SELECT request_id, attempt, arrival_us, grp, tenant, replica, k, gap_us, start_us, end_us, load, coalesce(a.streams, 1) AS streams, coalesce(b.streams, 1) AS streams_after,
         coalesce(b.fresh_us - array_max(filter(ARRAY[0, b.until_us - end_us], v -> v IS NOT NULL)), 0) - coalesce(a.fresh_us - array_max(filter(ARRAY[0, a.until_us - start_us], v -> v IS NOT NULL)), 0) AS covered_us,
         coalesce(b.waited_us - array_max(filter(ARRAY[0, b.waiting_us - end_us], v -> v IS NOT NULL)), 0) - coalesce(a.waited_us - array_max(filter(ARRAY[0, a.waiting_us - start_us], v -> v IS NOT NULL)), 0) AS waited_us
  FROM (
    SELECT *, last_value(level) IGNORE NULLS OVER (PARTITION BY replica ORDER BY at_us, turn ROWS UNBOUNDED PRECEDING) AS b
    FROM (
      SELECT request_id, attempt, arrival_us, grp, tenant, replica, k, gap_us, start_us, end_us, load, a, end_us AS at_us, 1 AS turn,
             CAST(NULL AS ROW(streams BIGINT, until_us BIGINT, fresh_us BIGINT, waiting_us BIGINT, waited_us BIGINT)) AS level
      FROM (
        SELECT *, last_value(level) IGNORE NULLS OVER (PARTITION BY replica ORDER BY at_us, turn ROWS UNBOUNDED PRECEDING) AS a
        FROM (
          SELECT request_id, attempt, arrival_us, grp, tenant, replica, k, gap_us, start_us, end_us, load, start_us AS at_us, 1 AS turn,
                 CAST(NULL AS ROW(streams BIGINT, until_us BIGINT, fresh_us BIGINT, waiting_us BIGINT, waited_us BIGINT)) AS level FROM seen
          UNION ALL
          SELECT NULL, NULL, NULL, NULL, NULL, replica, NULL, NULL, NULL, NULL, NULL, at_us, 0, CAST(ROW(streams, until_us, fresh_us, waiting_us, waited_us) AS ROW(streams BIGINT, until_us BIGINT, fresh_us BIGINT, waiting_us BIGINT, waited_us BIGINT)) FROM step_c AS levels
        )
      )
      WHERE turn = 1
      UNION ALL
      SELECT NULL, NULL, NULL, NULL, NULL, replica, NULL, NULL, NULL, NULL, NULL, CAST(NULL AS ROW(streams BIGINT, until_us BIGINT, fresh_us BIGINT, waiting_us BIGINT, waited_us BIGINT)), at_us, 0, CAST(ROW(streams, until_us, fresh_us, waiting_us, waited_us) AS ROW(streams BIGINT, until_us BIGINT, fresh_us BIGINT, waiting_us BIGINT, waited_us BIGINT)) FROM step_c AS levels
    )
  )
  WHERE turn = 1
),
decode_streams AS (
SELECT request_id, attempt, arrival_us, grp, coalesce(tenant, '(unknown)') AS tenant, coalesce(model, '') AS model, replica, arrival_us + ttft_us AS start_us,
       arrival_us + coalesce(last_us, end_us) AS end_us, paced_tokens, latency, chunks,
       coalesce(tokens_source = 'estimated', FALSE) AS estimated
FROM stream_shapes
WHERE replica IS NOT NULL AND coalesce(last_us, end_us) > ttft_us AND arrival_us IS NOT NULL
),
origins AS (
SELECT replica, min(start_us) AS origin_us FROM decode_streams GROUP BY replica
)
-- exact numbers of streams up to 8, then four classes an octave
SELECT p.*, start_us - mod(start_us - origin_us, 3600000000) AS hour_us,
       CASE WHEN streams < 8 THEN streams WHEN streams < 16 THEN streams - mod(streams, 2) WHEN streams < 32 THEN streams - mod(streams, 4)
            WHEN streams < 64 THEN streams - mod(streams, 8) ELSE streams - mod(streams, 16) END AS class,
       CASE WHEN streams_after < 8 THEN streams_after WHEN streams_after < 16 THEN streams_after - mod(streams_after, 2)
            WHEN streams_after < 32 THEN streams_after - mod(streams_after, 4) WHEN streams_after < 64 THEN streams_after - mod(streams_after, 8)
            ELSE streams_after - mod(streams_after, 16) END AS class_after
FROM placed AS p JOIN origins AS o ON o.replica = p.replica;

CREATE TABLE step_e AS
WITH ends AS (
SELECT replica, hour_us, class, gap_us, covered_us FROM step_d AS placed_gaps
  UNION ALL SELECT DISTINCT replica, hour_us, class_after, CAST(NULL AS BIGINT), CAST(NULL AS BIGINT) FROM step_d AS placed_gaps
)
SELECT replica, hour_us, class, count(CASE WHEN covered_us < 100 THEN 1 END) AS n, element_at(transform(ARRAY[array_agg(CAST(gap_us AS DOUBLE) ORDER BY gap_us) FILTER (WHERE gap_us IS NOT NULL AND (covered_us < 100))], s -> element_at(s, CAST(floor((cardinality(s) - 1) * 0.5e0) AS BIGINT) + 1) + ((cardinality(s) - 1) * 0.5e0 - floor((cardinality(s) - 1) * 0.5e0)) * (element_at(s, CAST(ceil((cardinality(s) - 1) * 0.5e0) AS BIGINT) + 1) - element_at(s, CAST(floor((cardinality(s) - 1) * 0.5e0) AS BIGINT) + 1))), 1) AS median_us,
       CASE WHEN class IS NULL AND count(CASE WHEN covered_us < 100 THEN 1 END) = 0 THEN element_at(transform(ARRAY[array_agg(CAST(gap_us AS DOUBLE) ORDER BY gap_us) FILTER (WHERE gap_us IS NOT NULL)], s -> element_at(s, CAST(floor((cardinality(s) - 1) * 0.1e0) AS BIGINT) + 1) + ((cardinality(s) - 1) * 0.1e0 - floor((cardinality(s) - 1) * 0.1e0)) * (element_at(s, CAST(ceil((cardinality(s) - 1) * 0.1e0) AS BIGINT) + 1) - element_at(s, CAST(floor((cardinality(s) - 1) * 0.1e0) AS BIGINT) + 1))), 1) END AS low_us
FROM ends
GROUP BY GROUPING SETS ((replica, hour_us, class), (replica, class), (replica));

CREATE TABLE step_f AS
SELECT c.replica, c.hour_us, c.class,
       coalesce(CASE WHEN c.n >= 30 THEN c.median_us END, CASE WHEN r.n >= 30 THEN r.median_us END,
                max(CASE WHEN r.n >= 30 THEN r.median_us END) OVER (PARTITION BY c.replica ORDER BY c.class),
                a.median_us, a.low_us) AS baseline_us
FROM step_e AS c
LEFT JOIN step_e AS r ON r.replica = c.replica AND r.hour_us IS NULL AND r.class = c.class
LEFT JOIN step_e AS a ON a.replica = c.replica AND a.hour_us IS NULL AND a.class IS NULL
WHERE c.hour_us IS NOT NULL;

CREATE TABLE step_g AS
WITH paced_gaps AS (
SELECT g.replica, request_id, attempt, arrival_us, grp, tenant, k, start_us, end_us, gap_us, g.streams, CAST(g.class AS BIGINT) AS batch, covered_us < 100 AS clean, waited_us, b.baseline_us, later.baseline_us AS after_us,
       array_max(filter(ARRAY[0, gap_us - CAST(round(b.baseline_us * load) AS BIGINT)], v -> v IS NOT NULL)) AS excess_us
FROM step_d AS g
JOIN step_f AS b ON b.replica = g.replica AND b.hour_us = g.hour_us AND b.class = g.class
JOIN step_f AS later ON later.replica = g.replica AND later.hour_us = g.hour_us AND later.class = g.class_after
)
SELECT * FROM paced_gaps WHERE gap_us > 3 * baseline_us AND gap_us - baseline_us >= array_min(filter(ARRAY[CAST(20000 AS BIGINT), 100000], v -> v IS NOT NULL));

CREATE TABLE step_h AS
WITH held AS (
SELECT replica, start_us, end_us,
         max(end_us) OVER (PARTITION BY replica ORDER BY start_us, end_us ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_us
  FROM step_g AS long_gaps
  WHERE gap_us - baseline_us >= CAST(20000 AS BIGINT) AND excess_us >= 0.5e0 * (gap_us - baseline_us)
),
marks AS (
SELECT replica, start_us AS at_us, 0 AS turn, CASE WHEN start_us > before_us + 2000 THEN start_us WHEN before_us IS NULL THEN start_us END AS run_start_us, end_us AS until_us,
         CAST(NULL AS VARCHAR) AS request_id, CAST(NULL AS INTEGER) AS attempt, CAST(NULL AS BIGINT) AS arrival_us
  FROM held
  UNION ALL SELECT replica, start_us, 1, NULL, NULL, request_id, attempt, arrival_us FROM step_b AS prefill_windows WHERE source = 'fitted'
),
swept AS (
SELECT *, max(run_start_us) OVER past AS last_start_us, max(until_us) OVER past AS last_end_us
  FROM marks
  WINDOW past AS (PARTITION BY replica ORDER BY at_us, turn ROWS UNBOUNDED PRECEDING)
),
cut AS (
SELECT request_id, attempt, arrival_us, last_start_us AS run_start_us FROM swept WHERE turn = 1 AND last_end_us > at_us
)
SELECT w.request_id, w.attempt, tenant, model, replica, w.arrival_us, source, w.start_us AS fitted_us, end_us, tokens, share, leads,
       array_min(filter(ARRAY[w.start_us, array_max(filter(ARRAY[floor_us, coalesce(run_start_us, w.start_us), end_us - CAST(round(CAST(3e+00 AS DOUBLE) * (end_us - w.start_us)) AS BIGINT)], v -> v IS NOT NULL))], v -> v IS NOT NULL)) AS start_us
FROM step_b AS w
LEFT JOIN cut AS c ON c.request_id = w.request_id AND c.attempt = w.attempt AND c.arrival_us = w.arrival_us;

CREATE TABLE step_i AS
WITH windows AS (
SELECT replica, start_us, end_us, CASE WHEN leads THEN 1 ELSE 0 END AS one, tokens / (end_us - start_us) AS rate,
         start_us - min(start_us) OVER (PARTITION BY replica) AS x0_us, end_us - min(start_us) OVER (PARTITION BY replica) AS x1_us,
         array_max(filter(ARRAY[0, end_us - array_max(filter(ARRAY[start_us, coalesce(max(end_us) OVER (PARTITION BY replica ORDER BY start_us, end_us, request_id, attempt
                                                                           ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), start_us)], v -> v IS NOT NULL))], v -> v IS NOT NULL)) AS fresh_us
  FROM step_h AS stretched_windows
),
edges_2 AS (
SELECT replica, start_us AS at_us, end_us AS until_us, fresh_us, one AS change, one * x0_us AS change_at, rate, rate * x0_us AS rate_at FROM windows
  UNION ALL SELECT replica, end_us, NULL, 0, -one, -one * x1_us, -rate, -rate * x1_us FROM windows
),
steps_2 AS (
SELECT replica, at_us, max(until_us) AS until_us, sum(fresh_us) AS fresh_us, sum(change) AS change, sum(change_at) AS change_at,
         sum(rate ORDER BY rate) AS rate, sum(rate_at ORDER BY rate_at) AS rate_at
  FROM edges_2 AS edges
  GROUP BY replica, at_us
)
-- sums of past edges give the integrals up to x: sum(change) x - sum(change at), with x counted from the replica's first window
SELECT replica, at_us, min(at_us) OVER (PARTITION BY replica) AS origin_us, max(until_us) OVER past AS until_us,
       CAST(sum(fresh_us) OVER past AS BIGINT) AS fresh_us, CAST(sum(change) OVER past AS BIGINT) AS active,
       CAST(sum(change_at) OVER past AS BIGINT) AS active_at, sum(rate) OVER past AS rates, sum(rate_at) OVER past AS rates_at
FROM steps_2 AS steps
WINDOW past AS (PARTITION BY replica ORDER BY at_us ROWS UNBOUNDED PRECEDING);

WITH stalls AS (
SELECT *, start_us + CAST(floor(gap_us / 2e0) AS BIGINT) AS mid_us FROM step_g AS long_gaps WHERE gap_us - baseline_us >= 100000
),
tried AS (
SELECT replica, request_id, attempt, arrival_us, k, start_us, end_us FROM stalls WHERE excess_us > 0 AND waited_us > 0
),
looked AS (
SELECT request_id, attempt, arrival_us, k,
         coalesce(b.fresh_us - array_max(filter(ARRAY[0, b.until_us - end_us], v -> v IS NOT NULL)), 0) - coalesce(a.fresh_us - array_max(filter(ARRAY[0, a.until_us - start_us], v -> v IS NOT NULL)), 0) AS covered_us,
         coalesce(b.active * (end_us - b.origin_us) - b.active_at, 0) - coalesce(a.active * (start_us - a.origin_us) - a.active_at, 0) AS overlap_us,
         coalesce(b.rates * (end_us - b.origin_us) - b.rates_at, 0) - coalesce(a.rates * (start_us - a.origin_us) - a.rates_at, 0) AS overlap_tokens
  FROM (
    SELECT *, last_value(level) IGNORE NULLS OVER (PARTITION BY replica ORDER BY at_us, turn ROWS UNBOUNDED PRECEDING) AS b
    FROM (
      SELECT request_id, attempt, arrival_us, replica, k, start_us, end_us, a, end_us AS at_us, 1 AS turn,
             CAST(NULL AS ROW(origin_us BIGINT, until_us BIGINT, fresh_us BIGINT, active BIGINT, active_at BIGINT, rates DOUBLE, rates_at DOUBLE)) AS level
      FROM (
        SELECT *, last_value(level) IGNORE NULLS OVER (PARTITION BY replica ORDER BY at_us, turn ROWS UNBOUNDED PRECEDING) AS a
        FROM (
          SELECT request_id, attempt, arrival_us, replica, k, start_us, end_us, start_us AS at_us, 1 AS turn,
                 CAST(NULL AS ROW(origin_us BIGINT, until_us BIGINT, fresh_us BIGINT, active BIGINT, active_at BIGINT, rates DOUBLE, rates_at DOUBLE)) AS level
          FROM tried
          UNION ALL
          SELECT NULL, NULL, NULL, replica, NULL, NULL, NULL, at_us, 0, CAST(ROW(origin_us, until_us, fresh_us, active, active_at, rates, rates_at) AS ROW(origin_us BIGINT, until_us BIGINT, fresh_us BIGINT, active BIGINT, active_at BIGINT, rates DOUBLE, rates_at DOUBLE)) FROM step_i AS window_levels
        )
      )
      WHERE turn = 1
      UNION ALL
      SELECT NULL, NULL, NULL, replica, NULL, NULL, NULL, CAST(NULL AS ROW(origin_us BIGINT, until_us BIGINT, fresh_us BIGINT, active BIGINT, active_at BIGINT, rates DOUBLE, rates_at DOUBLE)), at_us, 0, CAST(ROW(origin_us, until_us, fresh_us, active, active_at, rates, rates_at) AS ROW(origin_us BIGINT, until_us BIGINT, fresh_us BIGINT, active BIGINT, active_at BIGINT, rates DOUBLE, rates_at DOUBLE)) FROM step_i AS window_levels
    )
  )
  WHERE turn = 1
),
attempts AS (
SELECT *, source_format AS told_by, CASE WHEN vantage = 'engine' AND queue_us IS NOT NULL THEN first_us END AS engine_first_us FROM "hive"."llm"."logs" /* run */
),
requests AS (
SELECT 'all' AS grp, *,
       e2e_us * 1e0 / nullif(output_tokens, 0) AS ntpot_us,
       -- chunks that came in one read are one chunk: count and longest gap after merging
       CASE WHEN merged IS NULL THEN cardinality(gaps_us) ELSE merged.n END AS chunks,
       CASE WHEN whole THEN NULL WHEN merged IS NULL THEN CAST(array_max(slice(gaps_us, 2, cardinality(gaps_us))) AS BIGINT) ELSE nullif(merged.widest, -1) END AS max_gap_us
FROM (
  SELECT *,
         -- only streams that have such chunks pay for it; since: from the first chunk of the open group (metrics.md 0.1)
         CASE WHEN array_min(slice(gaps_us, 2, cardinality(gaps_us))) <= merge_us
              THEN reduce(slice(gaps_us, 2, cardinality(gaps_us)), CAST(ROW(0, -1, 1) AS ROW(since BIGINT, widest BIGINT, n BIGINT)),
                     (a, g) -> CASE WHEN a.since + g <= merge_us THEN CAST(ROW(a.since + g, a.widest, a.n) AS ROW(since BIGINT, widest BIGINT, n BIGINT))
                                    ELSE CAST(ROW(0, array_max(filter(ARRAY[a.widest, a.since + g], v -> v IS NOT NULL)), a.n + 1) AS ROW(since BIGINT, widest BIGINT, n BIGINT)) END,
                     a -> a) END AS merged
  FROM (
    SELECT *,
           CASE WHEN latency THEN NULL WHEN NOT generation THEN 'not_generation' WHEN cached_response THEN 'cached_response' ELSE status END AS excluded,
           -- within min(1 ms, a fifth of the stream's own pace, a token or else a chunk) two chunks are one
           CAST(floor(array_min(filter(ARRAY[1000e0, coalesce(tpot_us, (reduce(CAST(gaps_us AS ARRAY(BIGINT)), CAST(0 AS BIGINT), (s, v) -> s + v, s -> s) - element_at(gaps_us, 1)) * 1e0 / nullif(cardinality(gaps_us) - 1, 0)) / 5], v -> v IS NOT NULL))) AS BIGINT) AS merge_us
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
                 CASE WHEN TRUE THEN CAST(round(to_unixtime(arrival) * 1e6) AS BIGINT) END AS arrival_us,
                 coalesce(model_requested, model_served) AS model, model_served, tenant, app, route, replica, deployment,
                 provider, user_hash, endpoint_kind, stream, coalesce(cached_response, FALSE) AS cached_response,
                 CASE WHEN endpoint_kind IS NULL OR endpoint_kind = 'chat' THEN TRUE
                      ELSE endpoint_kind IN ('completions', 'responses', 'messages') END AS generation,
                 -- a map is looked up once a dictionary entry, a chain of comparisons once a row
                 coalesce(element_at(MAP(ARRAY['ok', 'client_cancel', 'client_error', 'context_length', 'timeout', 'rate_limited', 'upstream_error', 'network', 'in_flight', 'unknown'], ARRAY['ok', 'cancelled', 'client_error', 'client_error', 'failed', 'failed', 'failed', 'failed', 'in_flight', 'unknown']), error_class),
                          -- an answer that a filter emptied is an answer; a refusal with a status of 4xx is the caller's error
                          CASE WHEN error_class <> 'content_filter' THEN 'unknown' WHEN http_status >= 400 THEN 'client_error' ELSE 'ok' END) AS outcome,
                 -- the caller had nothing before it had everything: not streamed, or held back on the way
                 CASE WHEN quality IS NULL THEN NOT stream ELSE (strpos(quality, 'pseudo_stream') > 0) OR NOT stream END AS whole,
                 error_class, http_status, finish_reason,
                 input_tokens, cached_input_tokens AS cached_tokens, output_tokens, reasoning_tokens,
                 output_tokens - reasoning_tokens AS visible_tokens, max_tokens, tokens_source,
                 input_tokens - cached_input_tokens AS uncached_tokens,
                 system_prompt_tokens AS system_tokens, system_prompt_hash AS system_hash, prefix_hash_ids AS prefix_ids,
                 coalesce(CAST(prefix_block_tokens AS DOUBLE), input_tokens * 1e0 / nullif(cardinality(prefix_hash_ids), 0)) AS prefix_block_tokens,
                 prefix_block_tokens IS NOT NULL AS prefix_exact,
                 first_us, first_visible_us, last_us, end_us, headers_us, send_lag_us, queue_us, prefill_us, decode_us, engine_first_us,
                 gaps_us, CASE WHEN cardinality(chunk_tokens) = cardinality(gaps_us) THEN chunk_tokens END AS chunk_tokens
          FROM attempts
          WHERE TRUE
        )
      )
    )
  )
)
),
request_lists AS (
SELECT *, chunk_tokens IS NOT NULL AS told,
       reduce(filter(ARRAY[array_sort(filter(weights, w -> w IS NOT NULL))], w -> cardinality(w) > 0), CAST(NULL AS DOUBLE),
              (m, w) -> (element_at(w, CAST((cardinality(w) + 1) / 2 AS INTEGER)) + element_at(w, CAST(cardinality(w) / 2 AS INTEGER) + 1)) / 2e0, m -> m) AS usual_weight
FROM (
  SELECT *, CASE WHEN merged IS NULL THEN CAST(gaps_us AS ARRAY(BIGINT)) ELSE together.lengths END AS steps,
         CASE WHEN merged IS NULL THEN CAST(chunk_tokens AS ARRAY(BIGINT)) ELSE together.counts || ARRAY[together.count] END AS weights
  FROM (
    SELECT *,
           CASE WHEN merged IS NOT NULL THEN reduce(
             sequence(2, cardinality(gaps_us)),
             CAST(ROW(0, coalesce(element_at(chunk_tokens, 1), 1), ARRAY[element_at(gaps_us, 1)], ARRAY[]) AS ROW(since BIGINT, count BIGINT, lengths ARRAY(BIGINT), counts ARRAY(BIGINT))),
             (a, i) -> CASE WHEN a.since + gaps_us[i] <= merge_us
                            THEN CAST(ROW(a.since + gaps_us[i], a.count + coalesce(chunk_tokens[i], 1), a.lengths, a.counts)
                                      AS ROW(since BIGINT, count BIGINT, lengths ARRAY(BIGINT), counts ARRAY(BIGINT)))
                            ELSE CAST(ROW(0, coalesce(chunk_tokens[i], 1), a.lengths || ARRAY[a.since + gaps_us[i]], a.counts || ARRAY[a.count])
                                      AS ROW(since BIGINT, count BIGINT, lengths ARRAY(BIGINT), counts ARRAY(BIGINT))) END,
             a -> a) END AS together
    FROM requests
  )
)
),
stream_shapes AS (
SELECT request_id, attempt, grp, tenant, model, replica, arrival_us, ttft_us, last_us, end_us, tpot_us, output_tokens, paced_tokens, tokens_source, latency, streamed, chunks, usual_weight
FROM request_lists
),
decode_streams AS (
SELECT request_id, attempt, arrival_us, grp, coalesce(tenant, '(unknown)') AS tenant, coalesce(model, '') AS model, replica, arrival_us + ttft_us AS start_us,
       arrival_us + coalesce(last_us, end_us) AS end_us, paced_tokens, latency, chunks,
       coalesce(tokens_source = 'estimated', FALSE) AS estimated
FROM stream_shapes
WHERE replica IS NOT NULL AND coalesce(last_us, end_us) > ttft_us AND arrival_us IS NOT NULL
),
company AS (
SELECT replica, at_us, sum(held) AS held, sum(decoders) AS decoders
  FROM (
    SELECT replica, start_us AS at_us, 1 AS held, 0 AS decoders FROM stalls
    UNION ALL SELECT replica, end_us, -1, 0 FROM stalls
    UNION ALL SELECT replica, start_us, 0, 1 FROM decode_streams
    UNION ALL SELECT replica, end_us, 0, -1 FROM decode_streams
  )
  GROUP BY replica, at_us
),
crowd AS (
SELECT replica, at_us, sum(held) OVER past AS held, sum(decoders) OVER past AS decoders
  FROM company
  WINDOW past AS (PARTITION BY replica ORDER BY at_us ROWS UNBOUNDED PRECEDING)
),
seen_2 AS (
SELECT request_id, attempt, arrival_us, k, crowd.held AS held, crowd.decoders AS decoders
  FROM (
    SELECT *, last_value(level) IGNORE NULLS OVER (PARTITION BY replica ORDER BY at_us, turn ROWS UNBOUNDED PRECEDING) AS crowd
    FROM (
      SELECT request_id, attempt, arrival_us, replica, k, mid_us AS at_us, 1 AS turn, CAST(NULL AS ROW(held BIGINT, decoders BIGINT)) AS level FROM stalls
      UNION ALL
      SELECT NULL, NULL, NULL, replica, NULL, at_us, 0, CAST(ROW(held, decoders) AS ROW(held BIGINT, decoders BIGINT)) FROM crowd
    )
  )
  WHERE turn = 1 AND crowd IS NOT NULL
),
stood_gaps AS (
SELECT g.replica, g.request_id, g.attempt, g.arrival_us, grp, tenant, g.k, g.start_us, g.end_us, gap_us, streams, batch, clean, waited_us, baseline_us, after_us, excess_us,
       coalesce(covered_us, 0) AS covered_us, coalesce(overlap_us, 0) AS overlap_us, coalesce(overlap_tokens, 0e0) AS overlap_tokens, held, decoders
FROM stalls AS g
LEFT JOIN looked AS l ON l.request_id = g.request_id AND l.attempt = g.attempt AND l.arrival_us = g.arrival_us AND l.k = g.k
LEFT JOIN seen_2 AS c ON c.request_id = g.request_id AND c.attempt = g.attempt AND c.arrival_us = g.arrival_us AND c.k = g.k
),
explained AS (
SELECT *,
         CASE WHEN replica IN (SELECT replica FROM step_h AS stretched_windows) THEN array_min(filter(ARRAY[excess_us, covered_us], v -> v IS NOT NULL)) END AS lost_us, TRUE AS stalled,
         held * 1e0 / nullif(decoders, 0) AS coverage
  FROM stood_gaps
),
stalled_gaps AS (
SELECT *,
       CASE WHEN excess_us < 0.5e0 * (gap_us - baseline_us) THEN 'delivery'
            WHEN lost_us IS NULL THEN 'not attributed'
            WHEN lost_us >= 0.5e0 * excess_us THEN 'prefill'
            WHEN coverage >= 0.8e0 AND waited_us >= 0.5e0 * gap_us THEN 'blocked_ambiguous'
            WHEN coverage >= 0.8e0 AND decoders >= 3 THEN 'pause'
            WHEN coverage < 0.5e0 THEN 'local'
            WHEN gap_us - after_us < 0.5e0 * excess_us THEN 'batch_growth'
            ELSE 'unexplained' END AS label
FROM explained
),
summed AS (
SELECT grp, label, count(*) AS stalled, sum(excess_us) AS excess_us, sum(lost_us) AS lost_us
  FROM stalled_gaps
  GROUP BY grp, label
),
shared AS (
SELECT *, sum(excess_us) OVER (PARTITION BY grp) AS all_us FROM summed
)
SELECT grp, label, stalled, excess_us / 1e6 AS excess_s, CASE WHEN all_us > 0 THEN excess_us * 1e0 / all_us END AS excess_share, lost_us / 1e6 AS lost_s
FROM shared
ORDER BY grp, excess_us DESC, label;
