-- about The tokens of each chunk, where all are known; NULL without.
CASE WHEN ttft_us IS NULL THEN NULL WHEN cardinality(chunk_tokens) > 0 AND array_min(chunk_tokens) >= 1 THEN CAST(chunk_tokens AS ARRAY(BIGINT))
                         WHEN cardinality(gaps_us) > 0 AND cardinality(gaps_us) = paced_tokens THEN transform(gaps_us, g -> CAST(1 AS BIGINT)) END
