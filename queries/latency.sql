-- title Latency
-- about Exact percentiles over calls that generate text, ended well and did not come from a response cache; n_total counts these, n the ones
-- about that have the metric. Type 7 (linear between ranks), quantile_type = 1 gives values that were measured. failures = inf puts failed calls in as
-- about infinitely slow; calls that the user cancelled or that still ran are left out (censored: they would have taken longer). view = calls takes the
-- about attempts of one call together, from the start of the first. ttft: first token, also of answers that broke off later.
-- about ttfvt: first token that is not reasoning. tpot: (last - first token) / (output tokens - 1). chunk_gap: time between chunks. itl: gap / tokens
-- about of its chunk, counted once a token. max_gap: longest gap of a request. e2e: to the last token, or to the end when not streamed.
-- about ntpot: e2e / output tokens.
-- level L0
-- metric ttft | ms | first token - arrival; streamed calls only, never the headers' time; ttfvt: the first token that is not reasoning
-- metric tpot | ms | (last token - first token) / (output tokens - 1); unknown under 2 tokens
-- metric chunk_gap | ms | time between two chunks of a stream (chunks of one read merged); max_gap is the longest of a request
-- metric itl | ms | chunk gap / its tokens, once a token
-- metric e2e | ms | last token - arrival for streams, end - arrival otherwise; ntpot is e2e / output tokens
-- metric percentiles | - | exact, linear between ranks (type 7); `~` marks under 10 values above, `!` too few to mean more than the maximum
-- param failures TEXT exclude|inf
-- param view TEXT attempts|calls
-- param quantile_type TEXT 7|1
-- key metric
-- key grp
-- column n samples none
-- column n_total samples none
-- column mean ms lower
-- column p50 ms lower
-- column p90 ms lower
-- column p95 ms lower
-- column p99 ms lower
-- column p99_9 ms lower
-- column max ms lower
-- chart bar x=metric y=p50,p95,p99
-- quantiles value_us 1e3 type1 (SELECT quantile_type FROM params) = '1'
WITH
samples AS (
  SELECT metric, grp, value_us FROM latency_samples
)
