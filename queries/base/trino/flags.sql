-- about A list is read beside its row.
SELECT grp, generation, source_format, request_id, attempt, flag
FROM requests CROSS JOIN UNNEST(split(quality, ',')) AS listed(flag)
WHERE quality IS NOT NULL
