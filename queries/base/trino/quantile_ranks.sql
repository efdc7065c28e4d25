-- about JSON is read by a cast.
SELECT n, percentile, lower_rank, upper_rank
FROM UNNEST(CAST(json_parse(coalesce({ranks}, '[]')) AS ARRAY(ROW(n BIGINT, percentile VARCHAR, lower_rank BIGINT, upper_rank BIGINT)))) AS listed(n, percentile, lower_rank, upper_rank)
