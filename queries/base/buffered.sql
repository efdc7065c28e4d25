-- about Streams that something on the way held back and let go in bursts (metrics.md 4.2, ANA-19), one row a request: 8 or more tokens a chunk at the
-- about median, while tokens come at the pace of the replica's other streams (within 3 x of their median), or all in one burst. They say nothing about
-- about gaps or stalls.
WITH
streams AS (
  SELECT request_id, attempt, grp, replica, max(usual_weight) AS usual_weight FROM gaps GROUP BY request_id, attempt, grp, replica
),
paced AS (
  SELECT s.*, r.tpot_us,
         row_number() OVER (PARTITION BY s.replica, usual_weight < 8 ORDER BY r.tpot_us NULLS LAST, s.request_id, s.attempt) AS place,
         count(r.tpot_us) OVER (PARTITION BY s.replica, usual_weight < 8) AS n
  FROM streams AS s JOIN requests AS r ON r.request_id = s.request_id AND r.attempt = s.attempt
),
compared AS (
  SELECT *, avg(CASE WHEN usual_weight < 8 AND 2 * place BETWEEN n AND n + 2 THEN tpot_us END) OVER (PARTITION BY replica) AS pace_us
  FROM paced
)
SELECT request_id, attempt, grp
FROM compared
WHERE usual_weight >= 8 AND coalesce(tpot_us BETWEEN pace_us / 3 AND pace_us * 3, TRUE)
UNION ALL
SELECT request_id, attempt, grp FROM requests WHERE latency AND streamed AND chunks = 1 AND output_tokens >= 8
