-- about Logical requests of a run in which no call was tried twice: every attempt is a call. Columns as base/calls_grouped.sql.
SELECT *, 1 AS attempts,
       CASE WHEN verdict IN ('good', 'bad') THEN 1 ELSE 0 END AS judged_attempts, CASE WHEN verdict = 'good' THEN 1 ELSE 0 END AS good_attempts,
       output_tokens AS delivered_tokens
FROM judged
