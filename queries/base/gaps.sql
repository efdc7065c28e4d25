-- about One row a chunk gap of requests with latency, merged by metrics.md 0.1; k counts chunks, 2 is the first gap. weight is what the chunk carries:
-- about its tokens, or, where these are unknown, the chunks that came in one read; usual_weight is the median of the stream.
SELECT request_id, attempt, grp, model, tenant, replica, k, gap_us, tokens, coalesce(weight, 1) AS weight, coalesce(usual_weight, 1) AS usual_weight,
       arrival_us + CAST(heads[(k + 15) // 16] + list_sum(steps[k - mod(k - 1, 16):k]) AS BIGINT) AS end_us
FROM (
  SELECT request_id, attempt, grp, model, tenant, replica, arrival_us, steps, heads, list_median(weights) AS usual_weight,
         unnest(steps) AS gap_us, unnest(counts) AS tokens, unnest(weights) AS weight, CAST(generate_subscripts(steps, 1) AS BIGINT) AS k
  FROM (
    -- heads: the sum of the steps before each 16th, so that no gap adds up all those before it
    SELECT *, list_transform(range(0, len(steps), 16), lambda n: coalesce(list_sum(steps[:n]), 0)) AS heads
    FROM (
      SELECT *,
             CASE WHEN together IS NULL THEN CAST(gaps_us AS BIGINT[])
                  ELSE CAST(str_split(gaps_us[1] || together.gaps, ',') AS BIGINT[]) END AS steps,
             CASE WHEN together IS NULL THEN CAST(chunk_tokens AS BIGINT[])
                  ELSE CAST(str_split(together.counts || together.count, ',') AS BIGINT[]) END AS weights,
             CASE WHEN chunk_tokens IS NOT NULL THEN weights END AS counts
      FROM (
        SELECT *,
               -- chunks of one read: a chunk within merge_us of the first of its group joins the group. What is done is kept as text, which is much cheaper to
               -- extend than a list; every element carries its merge_us, for list_reduce takes a column that its lambda names from another row (duckdb issue 25816)
               CASE WHEN merged IS NOT NULL THEN list_reduce(
                 list_transform(gaps_us[2:], lambda g, i: {'since': CAST(g AS BIGINT), 'within': merge_us, 'count': CAST(coalesce(chunk_tokens[i + 1], 1) AS BIGINT),
                                                           'gaps': '', 'counts': ''}),
                 lambda a, x: CASE WHEN a.since + x.since <= x.within
                                   THEN {'since': a.since + x.since, 'within': x.within, 'count': a.count + x.count, 'gaps': a.gaps, 'counts': a.counts}
                                   ELSE {'since': CAST(0 AS BIGINT), 'within': x.within, 'count': x.count, 'gaps': a.gaps || ',' || (a.since + x.since),
                                         'counts': a.counts || a.count || ','} END,
                 {'since': CAST(0 AS BIGINT), 'within': merge_us, 'count': CAST(coalesce(chunk_tokens[1], 1) AS BIGINT), 'gaps': '', 'counts': ''}) END AS together
        FROM requests
        WHERE latency AND streamed AND chunks >= 2
      )
    )
  )
)
WHERE k > 1
