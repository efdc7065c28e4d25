-- about Lists are read beside their row; the shorter one is filled up with NULL.
SELECT grp, CAST(gap AS BIGINT) AS gap_us, n AS tokens
FROM requests CROSS JOIN UNNEST(gaps_us, chunk_tokens) WITH ORDINALITY AS listed(gap, n, k)
WHERE latency AND first_us IS NOT NULL AND k > 1
