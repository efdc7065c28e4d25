-- about Of a stream whose chunks came together: how many are left after merging (n) and the longest gap between them (widest). Most have none, which the whole list
-- about tells more cheaply than a part of it.
CASE WHEN list_min(gaps_us) <= merge_us AND list_min(gaps_us[2:]) <= merge_us
              -- every element carries its merge_us, for list_reduce takes a column that its lambda names from another row (duckdb issue 25816)
              THEN list_reduce(list_transform(gaps_us[2:], lambda g: {'since': CAST(g AS BIGINT), 'within': merge_us, 'widest': CAST(0 AS BIGINT), 'n': CAST(0 AS BIGINT)}),
                     lambda a, x: CASE WHEN a.since + x.since <= x.within
                                       THEN {'since': a.since + x.since, 'within': x.within, 'widest': a.widest, 'n': a.n}
                                       ELSE {'since': CAST(0 AS BIGINT), 'within': x.within, 'widest': greatest(a.widest, a.since + x.since), 'n': a.n + 1} END,
                     {'since': CAST(0 AS BIGINT), 'within': merge_us, 'widest': CAST(-1 AS BIGINT), 'n': CAST(1 AS BIGINT)}) END
