-- about What is known of each stream on a known replica from its first token and its end, one row a request.
SELECT request_id, attempt, arrival_us, grp, coalesce(tenant, {unnamed}) AS tenant, coalesce(model, '') AS model, replica, arrival_us + ttft_us AS start_us,
       arrival_us + coalesce(last_us, end_us) AS end_us, paced_tokens, latency, chunks,
       coalesce(tokens_source = 'estimated', FALSE) AS estimated
FROM stream_shapes
WHERE replica IS NOT NULL AND coalesce(last_us, end_us) > ttft_us AND arrival_us IS NOT NULL
