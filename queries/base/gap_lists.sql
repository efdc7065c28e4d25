-- about Streams with chunk times, one row a request with latency: steps, weights, told and usual_weight of request_lists.
SELECT request_id, attempt, grp, model, tenant, replica, arrival_us, told, steps, weights, usual_weight
FROM request_lists
WHERE latency AND streamed AND chunks >= 2
