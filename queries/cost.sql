-- title Cost of tokens
-- about What the GPUs cost for each million tokens (metrics.md 7.4): cost = price_gpu_hour x gpus_per_replica x replicas x time covered, whether they were busy or not.
-- about replicas: the distinct ones of the log, or as given; one that serves several groups counts for each by its share of input and output tokens. total: input
-- about and output tokens, output: output tokens, good: output tokens of logical requests that met the SLO; misses = good - output.
-- level L0
-- metric cost | $ | dollars a million tokens: total, output, good
-- param price_gpu_hour DOUBLE
-- param gpus_per_replica DOUBLE 1
-- param replicas DOUBLE
-- key grp
-- column seconds s none
-- column replicas replicas none
-- column gpus GPUs none
-- column cost $ lower
-- column input_tokens tokens none
-- column output_tokens tokens none
-- column good_tokens tokens higher
-- column output_per_s tokens/s higher
-- column per_million_total $ lower
-- column per_million_output $ lower
-- column per_million_good $ lower
-- column per_million_misses $ lower
WITH
placed AS (
  SELECT grp, replica, sum(coalesce(input_tokens, 0) + coalesce(output_tokens, 0)) AS tokens, sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens
  FROM requests
  WHERE generation AND NOT cached_response
  GROUP BY grp, replica
),
shares AS (
  SELECT *, CASE WHEN replica IS NOT NULL THEN tokens * 1e0 / nullif(sum(tokens) OVER (PARTITION BY replica), 0) END AS of_replica,
         tokens * 1e0 / nullif(sum(tokens) OVER (), 0) AS of_all
  FROM placed
),
summed AS (
  SELECT grp, sum(of_replica) AS seen, sum(of_all) AS of_all, CAST(sum(input_tokens) AS BIGINT) AS input_tokens, CAST(sum(output_tokens) AS BIGINT) AS output_tokens
  FROM shares
  GROUP BY grp
),
-- an answer whose call cannot be judged is neither good nor bad: without a judged one there is no figure
judged_calls AS (
  SELECT grp, CAST(CASE WHEN count(CASE WHEN verdict = 'good' THEN 1 END) > 0 THEN sum(CASE WHEN verdict = 'good' THEN output_tokens END)
                        WHEN count(CASE WHEN verdict = 'bad' THEN 1 END) > 0 THEN 0 END AS BIGINT) AS good_tokens
  FROM calls
  WHERE generation AND NOT cached_response
  GROUP BY grp
),
priced AS (
  SELECT s.grp, seconds, coalesce(params.replicas * of_all, seen) AS replicas, gpus_per_replica, input_tokens, output_tokens, good_tokens,
         price_gpu_hour * gpus_per_replica * coalesce(params.replicas * of_all, seen) * seconds / 36e2 AS cost
  FROM summed AS s LEFT JOIN judged_calls AS j ON j.grp = s.grp CROSS JOIN params CROSS JOIN covered
)
SELECT grp, seconds, replicas, replicas * gpus_per_replica AS gpus, cost, input_tokens, output_tokens, good_tokens, output_tokens / seconds AS output_per_s,
       cost * 1e6 / nullif(input_tokens + output_tokens, 0) AS per_million_total, cost * 1e6 / nullif(output_tokens, 0) AS per_million_output,
       cost * 1e6 / nullif(good_tokens, 0) AS per_million_good, cost * 1e6 / nullif(good_tokens, 0) - cost * 1e6 / nullif(output_tokens, 0) AS per_million_misses
FROM priced
ORDER BY grp
