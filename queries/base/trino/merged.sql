-- about Of a stream whose chunks came together: how many are left after merging (n) and the longest gap between them (widest).
CASE WHEN array_min(slice(gaps_us, 2, cardinality(gaps_us))) <= merge_us
              THEN reduce(slice(gaps_us, 2, cardinality(gaps_us)), CAST(ROW(0, -1, 1) AS ROW(since BIGINT, widest BIGINT, n BIGINT)),
                     (a, g) -> CASE WHEN a.since + g <= merge_us THEN CAST(ROW(a.since + g, a.widest, a.n) AS ROW(since BIGINT, widest BIGINT, n BIGINT))
                                    ELSE CAST(ROW(0, greatest(a.widest, a.since + g), a.n + 1) AS ROW(since BIGINT, widest BIGINT, n BIGINT)) END,
                     a -> a) END
