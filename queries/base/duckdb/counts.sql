-- about The tokens of each chunk, where all are known; NULL without.
CASE WHEN ttft_us IS NULL THEN NULL WHEN len(chunk_tokens) > 0 AND list_min(chunk_tokens) >= 1 THEN CAST(chunk_tokens AS BIGINT[])
                         WHEN len(gaps_us) > 0 AND len(gaps_us) = paced_tokens THEN list_transform(gaps_us, lambda g: CAST(1 AS BIGINT)) END
