-- about One row a probe of a replay that got a first token: at_us when it was sent, arm long or control (by the quality flags probe and probe_control), tokens
-- about of its prompt that no cache held, ttft_us. Probes are of no kind that generates text, so no other figure counts them.
SELECT request_id, attempt, replica, arrival_us + coalesce(send_lag_us, 0) AS at_us, CASE WHEN contains(quality, 'probe_control') THEN 'control' ELSE 'long' END AS arm,
       coalesce(uncached_tokens, input_tokens) AS tokens, ttft_us
FROM requests
WHERE contains(quality, 'probe') AND ttft_us IS NOT NULL AND arrival_us IS NOT NULL
