-- about As the DuckDB form: the lists taken apart, with the place of each gap in time.
SELECT request_id, attempt, arrival_us, grp, model, tenant, replica, k, gap_us, CASE WHEN told THEN weight END AS tokens, coalesce(weight, 1) AS weight,
       coalesce(usual_weight, 1) AS usual_weight, arrival_us + reduce(slice(steps, 1, CAST(k AS INTEGER)), CAST(0 AS BIGINT), (s, x) -> s + x, s -> s) AS end_us
FROM gap_lists CROSS JOIN UNNEST(steps, weights) WITH ORDINALITY AS listed(gap_us, weight, k)
WHERE k > 1
