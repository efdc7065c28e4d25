-- about JSON is read by a cast.
SELECT grp, model, cache_blocks, n_total, n, input, hit, written, reported, reported_hit, cached, missed
FROM UNNEST(CAST(json_parse(coalesce({curves}, '[]')) AS ARRAY(ROW(grp VARCHAR, model VARCHAR, cache_blocks BIGINT, n_total BIGINT, n BIGINT, input BIGINT, hit BIGINT,
                                                                  written BIGINT, reported BIGINT, reported_hit BIGINT, cached BIGINT, missed BIGINT))))
     AS listed(grp, model, cache_blocks, n_total, n, input, hit, written, reported, reported_hit, cached, missed)
