-- about Calls that decoded on a known replica at a known time, one row a call: when, what of tokens and context is known, and, where chunked is true, the chunk times
-- about that tell how tokens were spread (steps, weights and told of request_lists); else these say nothing of it.
SELECT r.grp, r.replica, r.request_id, r.attempt, r.arrival_us, r.arrival_us + ttft_us AS start_us, r.arrival_us + coalesce(last_us, end_us) AS end_us, paced_tokens, chunks,
       input_tokens + coalesce(paced_tokens, 0) * 5e-1 AS context, coalesce(latency AND streamed AND chunks >= 2 AND b.request_id IS NULL, FALSE) AS chunked, steps, weights, told
FROM request_lists AS r LEFT JOIN buffered AS b ON b.request_id = r.request_id AND b.attempt = r.attempt AND b.arrival_us = r.arrival_us
WHERE replica IS NOT NULL AND r.arrival_us IS NOT NULL AND coalesce(last_us, end_us) > ttft_us AND generation AND NOT cached_response
