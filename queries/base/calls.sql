-- about Logical requests of a run in which no call was tried twice: every attempt is a call. Columns as base/calls_grouped.sql.
SELECT *, CAST(NULL AS BIGINT) AS other_attempts, CAST(NULL AS BIGINT) AS other_judged, CAST(NULL AS BIGINT) AS other_good,
       CAST(NULL AS BIGINT) AS other_tokens
FROM judged
