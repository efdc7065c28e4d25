-- about Calls to generate text by group and minute of arrival (minute_us, its start): n calls, of them good, bad and unevaluable.
-- kept error budgets, burn rates and alerts read it
SELECT grp, arrival_us - mod(arrival_us, 60000000) AS minute_us, count(*) AS n, count(CASE WHEN verdict = 'good' THEN 1 END) AS good,
       count(CASE WHEN verdict = 'bad' THEN 1 END) AS bad, count(CASE WHEN verdict = 'unevaluable' THEN 1 END) AS unevaluable
FROM calls
WHERE generation AND NOT cached_response AND arrival_us IS NOT NULL
GROUP BY 1, 2
