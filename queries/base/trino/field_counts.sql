-- about Counts by name, then one row a name.
SELECT source_format, kind, name, n, n_total
FROM (
  SELECT source_format,
         ARRAY[
           CAST(ROW('level', 'L0', count(*) FILTER (WHERE latency AND end_us IS NOT NULL), count(*) FILTER (WHERE latency)) AS ROW(kind VARCHAR, name VARCHAR, n BIGINT, n_total BIGINT)),
           CAST(ROW('level', 'L1', count(ttft_us) FILTER (WHERE streams), count(*) FILTER (WHERE streams)) AS ROW(kind VARCHAR, name VARCHAR, n BIGINT, n_total BIGINT)),
           CAST(ROW('level', 'L2', count(gaps_us) FILTER (WHERE streams AND ttft_us IS NOT NULL), count(*) FILTER (WHERE streams)) AS ROW(kind VARCHAR, name VARCHAR, n BIGINT, n_total BIGINT)),
           CAST(ROW('level', 'L3', count(replica) FILTER (WHERE streams AND ttft_us IS NOT NULL), count(*) FILTER (WHERE streams)) AS ROW(kind VARCHAR, name VARCHAR, n BIGINT, n_total BIGINT)),
           CAST(ROW('level', 'L4', count(*) FILTER (WHERE latency AND (cached_tokens IS NOT NULL OR prefix_ids IS NOT NULL)), count(*) FILTER (WHERE latency)) AS ROW(kind VARCHAR, name VARCHAR, n BIGINT, n_total BIGINT)),
           CAST(ROW('level', 'L5', count(queue_us + prefill_us) FILTER (WHERE latency), count(*) FILTER (WHERE latency)) AS ROW(kind VARCHAR, name VARCHAR, n BIGINT, n_total BIGINT)),
           CAST(ROW('field', 'arrival', count(arrival_us), count(*)) AS ROW(kind VARCHAR, name VARCHAR, n BIGINT, n_total BIGINT)),
           CAST(ROW('field', 'outcome', count(*) FILTER (WHERE status <> 'unknown'), count(*)) AS ROW(kind VARCHAR, name VARCHAR, n BIGINT, n_total BIGINT)),
           CAST(ROW('field', 'http_status', count(http_status), count(*)) AS ROW(kind VARCHAR, name VARCHAR, n BIGINT, n_total BIGINT)),
           CAST(ROW('field', 'finish_reason', count(finish_reason), count(*)) AS ROW(kind VARCHAR, name VARCHAR, n BIGINT, n_total BIGINT)),
           CAST(ROW('field', 'stream', count(stream), count(*)) AS ROW(kind VARCHAR, name VARCHAR, n BIGINT, n_total BIGINT)),
           CAST(ROW('field', 'first_us', count(first_us), count(*)) AS ROW(kind VARCHAR, name VARCHAR, n BIGINT, n_total BIGINT)),
           CAST(ROW('field', 'first_visible_us', count(first_visible_us), count(*)) AS ROW(kind VARCHAR, name VARCHAR, n BIGINT, n_total BIGINT)),
           CAST(ROW('field', 'last_us', count(last_us), count(*)) AS ROW(kind VARCHAR, name VARCHAR, n BIGINT, n_total BIGINT)),
           CAST(ROW('field', 'end_us', count(end_us), count(*)) AS ROW(kind VARCHAR, name VARCHAR, n BIGINT, n_total BIGINT)),
           CAST(ROW('field', 'gaps_us', count(gaps_us), count(*)) AS ROW(kind VARCHAR, name VARCHAR, n BIGINT, n_total BIGINT)),
           CAST(ROW('field', 'chunk_tokens', count(chunk_tokens), count(*)) AS ROW(kind VARCHAR, name VARCHAR, n BIGINT, n_total BIGINT)),
           CAST(ROW('field', 'queue_us', count(queue_us), count(*)) AS ROW(kind VARCHAR, name VARCHAR, n BIGINT, n_total BIGINT)),
           CAST(ROW('field', 'prefill_us', count(prefill_us), count(*)) AS ROW(kind VARCHAR, name VARCHAR, n BIGINT, n_total BIGINT)),
           CAST(ROW('field', 'decode_us', count(decode_us), count(*)) AS ROW(kind VARCHAR, name VARCHAR, n BIGINT, n_total BIGINT)),
           CAST(ROW('field', 'input_tokens', count(input_tokens), count(*)) AS ROW(kind VARCHAR, name VARCHAR, n BIGINT, n_total BIGINT)),
           CAST(ROW('field', 'cached_tokens', count(cached_tokens), count(*)) AS ROW(kind VARCHAR, name VARCHAR, n BIGINT, n_total BIGINT)),
           CAST(ROW('field', 'output_tokens', count(output_tokens), count(*)) AS ROW(kind VARCHAR, name VARCHAR, n BIGINT, n_total BIGINT)),
           CAST(ROW('field', 'reasoning_tokens', count(reasoning_tokens), count(*)) AS ROW(kind VARCHAR, name VARCHAR, n BIGINT, n_total BIGINT)),
           CAST(ROW('field', 'max_tokens', count(max_tokens), count(*)) AS ROW(kind VARCHAR, name VARCHAR, n BIGINT, n_total BIGINT)),
           CAST(ROW('field', 'system_tokens', count(system_tokens), count(*)) AS ROW(kind VARCHAR, name VARCHAR, n BIGINT, n_total BIGINT)),
           CAST(ROW('field', 'prefix_ids', count(prefix_ids), count(*)) AS ROW(kind VARCHAR, name VARCHAR, n BIGINT, n_total BIGINT)),
           CAST(ROW('field', 'model', count(model), count(*)) AS ROW(kind VARCHAR, name VARCHAR, n BIGINT, n_total BIGINT)),
           CAST(ROW('field', 'tenant', count(tenant), count(*)) AS ROW(kind VARCHAR, name VARCHAR, n BIGINT, n_total BIGINT)),
           CAST(ROW('field', 'app', count(app), count(*)) AS ROW(kind VARCHAR, name VARCHAR, n BIGINT, n_total BIGINT)),
           CAST(ROW('field', 'route', count(route), count(*)) AS ROW(kind VARCHAR, name VARCHAR, n BIGINT, n_total BIGINT)),
           CAST(ROW('field', 'replica', count(replica), count(*)) AS ROW(kind VARCHAR, name VARCHAR, n BIGINT, n_total BIGINT)),
           CAST(ROW('field', 'session_id', count(session_id), count(*)) AS ROW(kind VARCHAR, name VARCHAR, n BIGINT, n_total BIGINT))
         ] AS counts
  FROM (SELECT *, latency AND whole IS NOT TRUE AS streams FROM requests WHERE generation)
  GROUP BY source_format
) CROSS JOIN UNNEST(counts) AS listed(kind, name, n, n_total)
