-- about What each burn rate rule sees: one row a group, rule and end of a minute (at_us) at which a window gains or loses calls; between two rows nothing
-- about changes. long_n, long_bad, short_n, short_bad count the judged calls of the windows that end there, sum_n and sum_bad all up to there. From
-- about from_us on the long window lies within the log; before, and without an error budget (an objective of 100 %), burns are NULL and nothing fires.
-- param objective DOUBLE 0.99
SELECT grp, rule, at_us, long_us, short_us, threshold, first_us, last_us, from_us, long_n, long_bad, short_n, short_bad, sum_n, sum_bad,
       round(1 - {objective}, 9) AS budget_share,
       CASE WHEN at_us >= from_us THEN long_bad / nullif(long_n * round(1 - {objective}, 9), 0) END AS long_burn,
       CASE WHEN at_us >= from_us THEN short_bad / nullif(short_n * round(1 - {objective}, 9), 0) END AS short_burn
FROM (
  SELECT grp, rule, at_us, CAST(sum(n) OVER before AS BIGINT) AS sum_n, CAST(sum(bad) OVER before AS BIGINT) AS sum_bad,
         CAST(sum(n - long_out) OVER before AS BIGINT) AS long_n, CAST(sum(bad - long_out_bad) OVER before AS BIGINT) AS long_bad,
         CAST(sum(n - short_out) OVER before AS BIGINT) AS short_n, CAST(sum(bad - short_out_bad) OVER before AS BIGINT) AS short_bad
  FROM (
    SELECT grp, rule, at_us,
           CAST(sum(CASE WHEN step = 0 THEN n ELSE 0 END) AS BIGINT) AS n, CAST(sum(CASE WHEN step = 0 THEN bad ELSE 0 END) AS BIGINT) AS bad,
           CAST(sum(CASE WHEN step = 1 THEN n ELSE 0 END) AS BIGINT) AS short_out, CAST(sum(CASE WHEN step = 1 THEN bad ELSE 0 END) AS BIGINT) AS short_out_bad,
           CAST(sum(CASE WHEN step = 2 THEN n ELSE 0 END) AS BIGINT) AS long_out, CAST(sum(CASE WHEN step = 2 THEN bad ELSE 0 END) AS BIGINT) AS long_out_bad
    FROM (
      -- a minute enters both windows at its end, leaves each a window later, and is looked at when the long window is first full
      SELECT grp, rule, step, n, bad, last_us,
             CASE step WHEN 0 THEN minute_us WHEN 1 THEN minute_us + short_us WHEN 2 THEN minute_us + long_us ELSE greatest(from_us, minute_us) END AS at_us
      FROM (
        SELECT grp, start_us + 60000000 AS minute_us, good + bad AS n, bad
        FROM judged_steps
        WHERE good + bad > 0
      ) CROSS JOIN burn_windows CROSS JOIN (VALUES (0), (1), (2), (3)) AS steps(step)
    )
    WHERE at_us <= last_us
    GROUP BY grp, rule, at_us
  )
  WINDOW before AS (PARTITION BY grp, rule ORDER BY at_us)
) JOIN burn_windows USING (rule)
