WITH params AS (
  SELECT CAST('exclude' AS STRING) AS failures,
         CAST('attempts' AS STRING) AS view,
         CAST('7' AS STRING) AS quantile_type
),
attempts AS (
SELECT *, source_format AS told_by, CASE WHEN vantage = 'engine' AND queue_us IS NOT NULL THEN first_us END AS engine_first_us FROM `logs` /* run */
) /* attempts */,
requests AS (
SELECT replace(replace(coalesce(tenant, '(unknown)'), ' /', ' //'), '/ ', '// ') || ' / ' || replace(replace(coalesce(model, '(unknown)'), ' /', ' //'), '/ ', '// ') AS grp, *,
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
                 CASE WHEN TRUE THEN unix_micros(arrival) END AS arrival_us,
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
          FROM attempts
          WHERE TRUE
        )
      )
    )
  )
)
) /* requests */,
callers AS (
SELECT *, arrival_us AS own_arrival_us FROM requests
) /* callers */,
request_lists AS (
SELECT *, chunk_tokens IS NOT NULL AS told,
       reduce(filter(array(array_sort(filter(weights, w -> w IS NOT NULL))), w -> array_size(w) > 0), CAST(NULL AS DOUBLE),
              (m, w) -> (try_element_at(w, CAST((array_size(w) + 1) div 2 AS INTEGER)) + try_element_at(w, CAST(array_size(w) div 2 AS INTEGER) + 1)) / 2e0, m -> m) AS usual_weight
FROM (
  SELECT *, CASE WHEN merged IS NULL THEN CAST(gaps_us AS ARRAY<BIGINT>) ELSE together.lengths END AS steps,
         CASE WHEN merged IS NULL THEN CAST(chunk_tokens AS ARRAY<BIGINT>) ELSE together.counts || array(together.count) END AS weights
  FROM (
    SELECT *,
           CASE WHEN merged IS NOT NULL THEN reduce(
             sequence(2, array_size(gaps_us)),
             CAST(struct(0, coalesce(try_element_at(chunk_tokens, 1), 1), array(try_element_at(gaps_us, 1)), array()) AS STRUCT<since BIGINT, count BIGINT, lengths ARRAY<BIGINT>, counts ARRAY<BIGINT>>),
             (a, i) -> CASE WHEN a.since + try_element_at(gaps_us, i) <= merge_us
                            THEN CAST(struct(a.since + try_element_at(gaps_us, i), a.count + coalesce(try_element_at(chunk_tokens, i), 1), a.lengths, a.counts)
                                      AS STRUCT<since BIGINT, count BIGINT, lengths ARRAY<BIGINT>, counts ARRAY<BIGINT>>)
                            ELSE CAST(struct(0, coalesce(try_element_at(chunk_tokens, i), 1), a.lengths || array(a.since + try_element_at(gaps_us, i)), a.counts || array(a.count))
                                      AS STRUCT<since BIGINT, count BIGINT, lengths ARRAY<BIGINT>, counts ARRAY<BIGINT>>) END,
             a -> a) END AS together
    FROM requests
  )
)
) /* request_lists */,
gap_lists AS (
SELECT request_id, attempt, grp, model, tenant, replica, arrival_us, told, steps, weights, usual_weight
FROM request_lists
WHERE latency AND streamed AND chunks >= 2
) /* gap_lists */,
gaps AS (
SELECT request_id, attempt, arrival_us, grp, model, tenant, replica, k, gap_us, CASE WHEN told THEN weight END AS tokens, coalesce(weight, 1) AS weight,
       coalesce(usual_weight, 1) AS usual_weight, arrival_us + reduce(slice(steps, 1, CAST(k AS INTEGER)), CAST(0 AS BIGINT), (s, x) -> s + x, s -> s) AS end_us
FROM gap_lists LATERAL VIEW inline(transform(steps, (x, i) -> struct(x, try_element_at(weights, i + 1), CAST(i + 1 AS BIGINT)))) listed AS gap_us, weight, k
WHERE k > 1
) /* gaps */,
token_steps AS (
SELECT request_id, attempt, arrival_us, grp, model, tenant, replica, k, end_us, gap_us * 1e0 / tokens AS step_us
FROM gaps LATERAL VIEW explode(sequence(0, (tokens - 1) div 1000)) thousands AS thousand LATERAL VIEW explode(array_repeat(1, CAST(least(1000, tokens - thousand * 1000) AS INTEGER))) ones AS one
WHERE tokens >= 1
) /* token_steps */,
latency_samples AS (
WITH
asked AS (
  SELECT *, arrival_us AS own_arrival_us FROM requests WHERE CAST('attempts' AS STRING) = 'attempts'
  UNION ALL
  SELECT * FROM callers WHERE CAST('attempts' AS STRING) = 'calls'
),
-- the attempt that speaks for a call is known by its own arrival too, which may be unknown: clients send an id twice
speaking AS (
  SELECT request_id, attempt, coalesce(own_arrival_us, -1) AS began_us FROM callers
),
began AS (
  SELECT 'chunk_gap' AS metric, grp, end_us AS at_us, tokens, CAST(gap_us AS DOUBLE) AS value_us, request_id, attempt, coalesce(arrival_us, -1) AS began_us FROM gaps
  UNION ALL
  SELECT 'itl', grp, end_us, 1, step_us, request_id, attempt, coalesce(arrival_us, -1) FROM token_steps
),
pieces AS (
  SELECT * FROM began WHERE CAST('attempts' AS STRING) = 'attempts'
  UNION ALL
  SELECT * FROM began LEFT SEMI JOIN speaking USING (request_id, attempt, began_us) WHERE CAST('attempts' AS STRING) = 'calls'
),
-- calls that failed: a first token that came counts, else the wait has no end; what is not streamed waits for its end alone
failed AS (
  SELECT grp, arrival_us, output_tokens, ttft_us, coalesce(whole, FALSE) AS whole, CASE WHEN CAST('exclude' AS STRING) = 'inf' THEN CAST('Infinity' AS DOUBLE) END AS never_us
  FROM asked
  WHERE status = 'failed' AND generation AND NOT cached_response
)
-- each call as it is read: a branch a metric would read the run as often
SELECT metric, grp, arrival_us AS at_us, output_tokens AS tokens,
       CASE metric WHEN 'ttft' THEN CAST(ttft_us AS DOUBLE) WHEN 'ttfvt' THEN CAST(ttfvt_us AS DOUBLE) WHEN 'tpot' THEN tpot_us
                   WHEN 'e2e' THEN CAST(e2e_us AS DOUBLE) ELSE ntpot_us END AS value_us
FROM asked CROSS JOIN (VALUES ('ttft'), ('ttfvt'), ('tpot'), ('e2e'), ('ntpot')) AS metrics(metric)
WHERE latency
UNION ALL
SELECT 'max_gap', grp, arrival_us, output_tokens, max_gap_us FROM asked WHERE latency
UNION ALL
SELECT 'ttft', grp, arrival_us, output_tokens, coalesce(ttft_us, CASE WHEN NOT whole THEN never_us END) FROM failed WHERE coalesce(ttft_us, never_us) IS NOT NULL
UNION ALL
SELECT metric, grp, arrival_us, output_tokens, CASE WHEN NOT whole OR metric IN ('e2e', 'ntpot') THEN never_us END
FROM failed CROSS JOIN (VALUES ('ttfvt'), ('tpot'), ('max_gap'), ('e2e'), ('ntpot')) AS metrics(metric)
WHERE never_us IS NOT NULL
UNION ALL
SELECT metric, grp, at_us, tokens, value_us FROM pieces
) /* latency_samples */,
samples AS (
  SELECT metric, grp, value_us FROM latency_samples
),
-- equal values are counted together, unknown ones last
counted AS (
  SELECT metric, grp, CAST(value_us AS DOUBLE) AS v, CAST(sum(1) AS BIGINT) AS c FROM samples WHERE 1 > 0 GROUP BY metric, grp, value_us
),
ranked AS (
  SELECT *, CAST(sum(CASE WHEN v IS NOT NULL THEN c END) OVER (PARTITION BY metric, grp ORDER BY v NULLS LAST ROWS UNBOUNDED PRECEDING) AS BIGINT) AS hi,
         CAST(coalesce(sum(CASE WHEN v IS NOT NULL THEN c END) OVER (PARTITION BY metric, grp), 0) AS BIGINT) AS n
  FROM counted
),
-- exact quantiles: type 1 the first value of rank n p or more; type 7 between those of rank floor(h) + 1 and floor(h) + 2, h = (n - 1) p
quantiles AS (
  SELECT metric, grp, n, CAST(sum(c) AS BIGINT) AS n_total, sum(CAST(TRY_CAST(round(v * 1e6) AS BIGINT) AS DECIMAL(38, 0)) * c) AS total, max(v) AS highest,
         min(CASE WHEN hi * 1000 >= n * 500 THEN v END) AS p50_at, min(CASE WHEN hi * 1000 > (n - 1) * 500 THEN v END) AS p50_low,
         min(CASE WHEN (hi - 1) * 1000 >= (n - 1) * 500 THEN v END) AS p50_high,
         min(CASE WHEN hi * 1000 >= n * 900 THEN v END) AS p90_at, min(CASE WHEN hi * 1000 > (n - 1) * 900 THEN v END) AS p90_low,
         min(CASE WHEN (hi - 1) * 1000 >= (n - 1) * 900 THEN v END) AS p90_high,
         min(CASE WHEN hi * 1000 >= n * 950 THEN v END) AS p95_at, min(CASE WHEN hi * 1000 > (n - 1) * 950 THEN v END) AS p95_low,
         min(CASE WHEN (hi - 1) * 1000 >= (n - 1) * 950 THEN v END) AS p95_high,
         min(CASE WHEN hi * 1000 >= n * 990 THEN v END) AS p99_at, min(CASE WHEN hi * 1000 > (n - 1) * 990 THEN v END) AS p99_low,
         min(CASE WHEN (hi - 1) * 1000 >= (n - 1) * 990 THEN v END) AS p99_high,
         min(CASE WHEN hi * 1000 >= n * 999 THEN v END) AS p99_9_at, min(CASE WHEN hi * 1000 > (n - 1) * 999 THEN v END) AS p99_9_low,
         min(CASE WHEN (hi - 1) * 1000 >= (n - 1) * 999 THEN v END) AS p99_9_high
  FROM ranked
  GROUP BY metric, grp, n
)
SELECT metric, grp, n, n_total, CASE WHEN highest < 9e12 THEN CAST(total AS DOUBLE) / 1e6 / n / 1e3 END AS mean,
       (CASE WHEN CAST('7' AS STRING) = '1' THEN p50_at ELSE CASE WHEN p50_high = p50_low THEN p50_low ELSE p50_low + mod((n - 1) * 500, 1000) * 1e-3 * (coalesce(p50_high, p50_low) - p50_low) END END) / 1e3 AS p50,
       (CASE WHEN CAST('7' AS STRING) = '1' THEN p90_at ELSE CASE WHEN p90_high = p90_low THEN p90_low ELSE p90_low + mod((n - 1) * 900, 1000) * 1e-3 * (coalesce(p90_high, p90_low) - p90_low) END END) / 1e3 AS p90,
       (CASE WHEN CAST('7' AS STRING) = '1' THEN p95_at ELSE CASE WHEN p95_high = p95_low THEN p95_low ELSE p95_low + mod((n - 1) * 950, 1000) * 1e-3 * (coalesce(p95_high, p95_low) - p95_low) END END) / 1e3 AS p95,
       (CASE WHEN CAST('7' AS STRING) = '1' THEN p99_at ELSE CASE WHEN p99_high = p99_low THEN p99_low ELSE p99_low + mod((n - 1) * 990, 1000) * 1e-3 * (coalesce(p99_high, p99_low) - p99_low) END END) / 1e3 AS p99,
       (CASE WHEN CAST('7' AS STRING) = '1' THEN p99_9_at ELSE CASE WHEN p99_9_high = p99_9_low THEN p99_9_low ELSE p99_9_low + mod((n - 1) * 999, 1000) * 1e-3 * (coalesce(p99_9_high, p99_9_low) - p99_9_low) END END) / 1e3 AS p99_9,
       CAST(highest AS DOUBLE) / 1e3 AS max
FROM quantiles
ORDER BY metric NULLS LAST, grp NULLS LAST;
