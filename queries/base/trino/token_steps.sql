-- about A sequence of Trino holds 10,000 numbers at most: thousands and ones.
SELECT request_id, attempt, arrival_us, grp, model, tenant, replica, k, end_us, gap_us * 1e0 / tokens AS step_us
FROM gaps CROSS JOIN UNNEST(sequence(0, (tokens - 1) // 1000)) AS thousands(thousand) CROSS JOIN UNNEST(repeat(1, CAST(least(1000, tokens - thousand * 1000) AS INTEGER))) AS ones(one)
WHERE tokens >= 1
