-- about One row a request and quality flag.
SELECT grp, generation, source_format, request_id, attempt, unnest(str_split(quality, ',')) AS flag
FROM requests
WHERE quality IS NOT NULL
