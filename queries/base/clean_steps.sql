-- about The length of an engine's step by the number of streams in decode, one row a group and class of that number: the median of n chunk gaps in which no
-- about prompt was prefilled, as far as that is known (metrics.md 7.2); streams is the mean of the number when these gaps began.
-- swept steps | paced_streams decode_streams prefill_windows
SELECT grp, batch, count(*) AS n, quantile_cont(gap_us, 0.5) AS step_us, CAST(sum(streams) AS BIGINT) * 1e0 / count(*) AS streams
FROM paced_gaps
WHERE clean
GROUP BY grp, batch
