-- title Chunk gaps with and without other requests' prefills
-- about Quantiles of the observed chunk gaps and of the same gaps less the time lost to other requests' prefills (metrics.md 4.6): an upper bound of what
-- about taking prefill off these engines would gain (the transfer of caches is not modelled). Gaps of buffered streams are left out.
-- level L3
-- key grp
-- key variant
-- column n gaps none
-- column n_total gaps none
-- column mean ms lower
-- column p50 ms lower
-- column p90 ms lower
-- column p95 ms lower
-- column p99 ms lower
-- column p99_9 ms lower
-- column max ms lower
-- quantiles gap_us 1e3 weight gaps
WITH
samples AS (
  SELECT grp, variant, gap_us, gaps FROM chunk_counts
)
