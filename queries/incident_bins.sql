-- title Requests that missed the objective, over time
-- about Logical requests with a verdict under the SLO, by time bin of arrival: eligible = good + bad. Bins without requests are left out. The incident finder
-- about reads it.
-- param bin_us BIGINT 10000000
-- key start_us time
-- column eligible requests none
-- column bad requests lower
-- column failed requests lower
-- level L0
-- chart bar x=start_us y=bad
WITH
binned AS (
  SELECT arrival_us - mod(arrival_us, bin_us) AS start_us, verdict, status
  FROM calls CROSS JOIN params
  WHERE arrival_us IS NOT NULL
),
counted AS (
  SELECT start_us, count(CASE WHEN verdict IN ('good', 'bad') THEN 1 END) AS eligible, count(CASE WHEN verdict = 'bad' THEN 1 END) AS bad,
         count(CASE WHEN status = 'failed' AND verdict IN ('good', 'bad') THEN 1 END) AS failed
  FROM binned
  GROUP BY start_us
)
SELECT start_us, eligible, bad, failed
FROM counted
WHERE eligible > 0
ORDER BY start_us
