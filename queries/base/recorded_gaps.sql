-- about Chunk gaps as they were recorded, one row a gap, of calls with latency that came piece by piece: chunks of one read are not merged. Other tools count these.
SELECT grp, CAST(unnest(gaps_us[2:]) AS BIGINT) AS gap_us, unnest(chunk_tokens[2:]) AS tokens
FROM requests
WHERE latency AND first_us IS NOT NULL
