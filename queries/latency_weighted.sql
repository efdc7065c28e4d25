-- title Latency by token
-- about What a token saw, not what a request saw: every call counts as often as it has output tokens, a chunk gap as often as its chunk has tokens, so that long
-- about answers weigh more. Weighted percentiles of type 1: the least value that holds the share of all tokens (metrics.md 2.1). n and n_total are tokens;
-- about calls whose tokens are unknown are left out. Metrics and parameters as in the query latency, which counts every call once.
-- level L0
-- param failures TEXT exclude|inf
-- param view TEXT attempts|calls
-- key metric
-- key grp
-- column n tokens none
-- column n_total tokens none
-- column mean ms lower
-- column p50 ms lower
-- column p90 ms lower
-- column p95 ms lower
-- column p99 ms lower
-- column p99_9 ms lower
-- column max ms lower
-- quantiles value_us 1e3 weight tokens type1 TRUE
WITH
samples AS (
  SELECT metric, grp, tokens, value_us FROM latency_samples
)
