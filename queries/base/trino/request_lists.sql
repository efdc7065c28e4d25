-- about Chunks of one read become one while the list is folded: a gap within merge_us of the first of its group joins the group.
SELECT *, chunk_tokens IS NOT NULL AS told,
       reduce(filter(ARRAY[array_sort(filter(weights, w -> w IS NOT NULL))], w -> cardinality(w) > 0), CAST(NULL AS DOUBLE),
              (m, w) -> (element_at(w, CAST((cardinality(w) + 1) // 2 AS INTEGER)) + element_at(w, CAST(cardinality(w) // 2 AS INTEGER) + 1)) / 2e0, m -> m) AS usual_weight
FROM (
  SELECT *, CASE WHEN merged IS NULL THEN CAST(gaps_us AS ARRAY(BIGINT)) ELSE together.lengths END AS steps,
         CASE WHEN merged IS NULL THEN CAST(chunk_tokens AS ARRAY(BIGINT)) ELSE together.counts || ARRAY[together.count] END AS weights
  FROM (
    SELECT *,
           CASE WHEN merged IS NOT NULL THEN reduce(
             sequence(2, cardinality(gaps_us)),
             CAST(ROW(0, coalesce(chunk_tokens[1], 1), ARRAY[gaps_us[1]], ARRAY[]) AS ROW(since BIGINT, count BIGINT, lengths ARRAY(BIGINT), counts ARRAY(BIGINT))),
             (a, i) -> CASE WHEN a.since + gaps_us[i] <= merge_us
                            THEN CAST(ROW(a.since + gaps_us[i], a.count + coalesce(chunk_tokens[i], 1), a.lengths, a.counts)
                                      AS ROW(since BIGINT, count BIGINT, lengths ARRAY(BIGINT), counts ARRAY(BIGINT)))
                            ELSE CAST(ROW(0, coalesce(chunk_tokens[i], 1), a.lengths || ARRAY[a.since + gaps_us[i]], a.counts || ARRAY[a.count])
                                      AS ROW(since BIGINT, count BIGINT, lengths ARRAY(BIGINT), counts ARRAY(BIGINT))) END,
             a -> a) END AS together
    FROM requests
  )
)
