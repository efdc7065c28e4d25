-- about One row a source format, kind and name: of how many of n_total attempts to generate text something is known. Kind level counts answered calls
-- about that have all that a level needs (metrics.md 0.4); L1 and L2 only those not given whole. Kind field counts known values.
SELECT source_format, unnest([
         {'kind': 'level', 'name': 'L0', 'n': count(*) FILTER (latency AND end_us IS NOT NULL), 'n_total': count(*) FILTER (latency)},
         {'kind': 'level', 'name': 'L1', 'n': count(ttft_us) FILTER (streams), 'n_total': count(*) FILTER (streams)},
         {'kind': 'level', 'name': 'L2', 'n': count(gaps_us) FILTER (streams AND ttft_us IS NOT NULL), 'n_total': count(*) FILTER (streams)},
         {'kind': 'level', 'name': 'L3', 'n': count(replica) FILTER (streams AND ttft_us IS NOT NULL), 'n_total': count(*) FILTER (streams)},
         {'kind': 'level', 'name': 'L4', 'n': count(*) FILTER (latency AND (cached_tokens IS NOT NULL OR prefix_ids IS NOT NULL)), 'n_total': count(*) FILTER (latency)},
         {'kind': 'level', 'name': 'L5', 'n': count(queue_us + prefill_us) FILTER (latency), 'n_total': count(*) FILTER (latency)},
         {'kind': 'field', 'name': 'arrival', 'n': count(arrival_us), 'n_total': count(*)},
         {'kind': 'field', 'name': 'outcome', 'n': count(*) FILTER (status <> 'unknown'), 'n_total': count(*)},
         {'kind': 'field', 'name': 'http_status', 'n': count(http_status), 'n_total': count(*)},
         {'kind': 'field', 'name': 'finish_reason', 'n': count(finish_reason), 'n_total': count(*)},
         {'kind': 'field', 'name': 'stream', 'n': count(stream), 'n_total': count(*)},
         {'kind': 'field', 'name': 'first_us', 'n': count(first_us), 'n_total': count(*)},
         {'kind': 'field', 'name': 'first_visible_us', 'n': count(first_visible_us), 'n_total': count(*)},
         {'kind': 'field', 'name': 'last_us', 'n': count(last_us), 'n_total': count(*)},
         {'kind': 'field', 'name': 'end_us', 'n': count(end_us), 'n_total': count(*)},
         {'kind': 'field', 'name': 'gaps_us', 'n': count(gaps_us), 'n_total': count(*)},
         {'kind': 'field', 'name': 'chunk_tokens', 'n': count(chunk_tokens), 'n_total': count(*)},
         {'kind': 'field', 'name': 'queue_us', 'n': count(queue_us), 'n_total': count(*)},
         {'kind': 'field', 'name': 'prefill_us', 'n': count(prefill_us), 'n_total': count(*)},
         {'kind': 'field', 'name': 'decode_us', 'n': count(decode_us), 'n_total': count(*)},
         {'kind': 'field', 'name': 'input_tokens', 'n': count(input_tokens), 'n_total': count(*)},
         {'kind': 'field', 'name': 'cached_tokens', 'n': count(cached_tokens), 'n_total': count(*)},
         {'kind': 'field', 'name': 'output_tokens', 'n': count(output_tokens), 'n_total': count(*)},
         {'kind': 'field', 'name': 'reasoning_tokens', 'n': count(reasoning_tokens), 'n_total': count(*)},
         {'kind': 'field', 'name': 'max_tokens', 'n': count(max_tokens), 'n_total': count(*)},
         {'kind': 'field', 'name': 'system_tokens', 'n': count(system_tokens), 'n_total': count(*)},
         {'kind': 'field', 'name': 'prefix_ids', 'n': count(prefix_ids), 'n_total': count(*)},
         {'kind': 'field', 'name': 'model', 'n': count(model), 'n_total': count(*)},
         {'kind': 'field', 'name': 'tenant', 'n': count(tenant), 'n_total': count(*)},
         {'kind': 'field', 'name': 'app', 'n': count(app), 'n_total': count(*)},
         {'kind': 'field', 'name': 'route', 'n': count(route), 'n_total': count(*)},
         {'kind': 'field', 'name': 'replica', 'n': count(replica), 'n_total': count(*)},
         {'kind': 'field', 'name': 'session_id', 'n': count(session_id), 'n_total': count(*)}
       ], recursive := TRUE)
FROM (SELECT *, latency AND whole IS NOT TRUE AS streams FROM requests WHERE generation)
GROUP BY source_format
