-- about One row a chunk gap of requests with latency, merged by metrics.md 0.1; k counts chunks, 2 is the first gap.
SELECT request_id, attempt, grp, model, tenant, replica, k, gap_us, tokens,
       arrival_us + CAST(list_sum(steps[:k]) AS BIGINT) AS end_us
FROM (
  SELECT request_id, attempt, grp, model, tenant, replica, arrival_us, steps,
         unnest(steps) AS gap_us, unnest(counts) AS tokens, CAST(generate_subscripts(steps, 1) AS BIGINT) AS k
  FROM (
    SELECT *,
           CASE WHEN together IS NULL THEN CAST(gaps_us AS BIGINT[]) ELSE gaps_us[1] || together.gaps END AS steps,
           CASE WHEN together IS NULL THEN CAST(chunk_tokens AS BIGINT[]) ELSE together.counts || together.tokens END AS counts
    FROM (
      SELECT *,
             -- chunks of one read: a chunk within merge_us of the first of its group joins the group
             CASE WHEN merged IS NOT NULL THEN list_reduce(
               list_transform(gaps_us[2:], lambda g, i: {'since': CAST(g AS BIGINT), 'tokens': CAST(chunk_tokens[i + 1] AS BIGINT),
                                                         'gaps': CAST([] AS BIGINT[]), 'counts': CAST([] AS BIGINT[])}),
               lambda a, x: CASE WHEN a.since + x.since <= merge_us
                                 THEN {'since': a.since + x.since, 'tokens': a.tokens + x.tokens, 'gaps': a.gaps, 'counts': a.counts}
                                 ELSE {'since': CAST(0 AS BIGINT), 'tokens': x.tokens, 'gaps': a.gaps || [a.since + x.since],
                                       'counts': a.counts || [a.tokens]} END,
               {'since': CAST(0 AS BIGINT), 'tokens': CAST(chunk_tokens[1] AS BIGINT), 'gaps': CAST([] AS BIGINT[]),
                'counts': CAST([] AS BIGINT[])}) END AS together
      FROM requests
      WHERE latency AND streamed AND chunks >= 2
    )
  )
)
WHERE k > 1
