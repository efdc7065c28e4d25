-- about Calls to generate text by group and step of their arrival (start_us): n calls, of them good, bad, unevaluable and excluded, the tokens of the good ones
-- about and of all, with those of attempts that do not speak for their call (NULL where none tells). A step is a minute, or where bin_us is given what it and a minute have in common.
-- kept goodput over time, error budgets, burn rates and alerts read it
SELECT grp, arrival_us - mod(arrival_us, {step_us}) AS start_us, count(*) AS n, count(CASE WHEN verdict = 'good' THEN 1 END) AS good,
       count(CASE WHEN verdict = 'bad' THEN 1 END) AS bad, count(CASE WHEN verdict = 'unevaluable' THEN 1 END) AS unevaluable,
       count(CASE WHEN verdict = 'excluded' THEN 1 END) AS excluded, CAST(sum(CASE WHEN verdict = 'good' THEN output_tokens END) AS BIGINT) AS good_tokens,
       CAST(sum(output_tokens) + CASE WHEN {grouped} THEN coalesce(sum(other_tokens), 0) ELSE 0 END AS BIGINT) AS delivered_tokens
FROM calls
WHERE generation AND NOT cached_response AND arrival_us IS NOT NULL
GROUP BY 1, 2
