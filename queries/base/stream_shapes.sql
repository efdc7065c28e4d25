-- about What the chunk times of a request say without the times themselves, one row a request: the number of chunks after merging, the usual weight of one.
-- kept the lists of chunk times are long
SELECT request_id, attempt, grp, tenant, model, replica, arrival_us, ttft_us, last_us, end_us, tpot_us, output_tokens, paced_tokens, tokens_source, latency, streamed, chunks, usual_weight
FROM request_lists
