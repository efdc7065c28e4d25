-- about Which order statistics of n values hold a percentile with 95 % confidence (metrics.md 2.2), one row a size and percentile. Analyze computes them.
-- param ranks TEXT
SELECT unnest(from_json(coalesce({ranks}, '[]'), '[{"n": "BIGINT", "percentile": "VARCHAR", "lower_rank": "BIGINT", "upper_rank": "BIGINT"}]'), recursive := TRUE)
