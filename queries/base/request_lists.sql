-- about requests with their chunk times as lists: steps holds the offset of the first chunk, then the chunk gaps, merged by metrics.md 0.1; weights what each chunk carries
-- about (its tokens, or, where these are unknown, the chunks that came in one read; NULL: all 1), usual_weight their median; told: weights are tokens.
SELECT *, chunk_tokens IS NOT NULL AS told, list_median(weights) AS usual_weight
FROM (
  SELECT *,
         CASE WHEN together IS NULL THEN CAST(gaps_us AS BIGINT[])
              ELSE CAST(str_split(gaps_us[1] || together.gaps, ',') AS BIGINT[]) END AS steps,
         CASE WHEN together IS NULL THEN CAST(chunk_tokens AS BIGINT[])
              ELSE CAST(str_split(together.counts || together.count, ',') AS BIGINT[]) END AS weights
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
  )
)
