-- about Where the level of a latency metric changed for good or for a while (metrics.md 2.5), one row a change; analyze finds them, for SQL cannot permute.
-- about at_us: the start of the first step of the new level; before_us, after_us: median of the steps' medians on either side, up to the next change;
-- about steps of both; p of the permutation test.
-- param changes TEXT
SELECT unnest(from_json(coalesce({changes}, '[]'), '[{"metric": "VARCHAR", "grp": "VARCHAR", "at_us": "BIGINT", "before_ms": "DOUBLE", "after_ms": "DOUBLE", "steps_before": "BIGINT", "steps_after": "BIGINT", "p": "DOUBLE"}]'), recursive := TRUE)
