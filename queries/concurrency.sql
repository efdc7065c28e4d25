-- title Concurrency
-- about Attempts in progress at once, from arrival to end, half open: who ends at an instant has left before who comes. peak: the most at one time.
-- about mean: over the time covered, so that mean = arrivals a second x seconds an attempt (Little's law). busy: share of that time with at least one.
-- about Attempts without an arrival or an end are left out (n_total - n). Those that began before the range are not seen.
-- level L0
-- key grp
-- column n requests none
-- column n_total requests none
-- column peak requests none
-- column mean requests none
-- column busy share none
WITH
known AS (
  SELECT grp, count(*) AS n_total, count(CASE WHEN arrival_us + end_us >= arrival_us THEN 1 END) AS n
  FROM requests
  WHERE generation AND NOT cached_response
  GROUP BY grp
),
-- one row a group and instant: how many more are in progress from then on
steps AS (
  SELECT grp, at_us, CAST(sum(change) AS BIGINT) AS change FROM events GROUP BY grp, at_us
),
levels AS (
  SELECT grp, at_us, CAST(sum(change) OVER (PARTITION BY grp ORDER BY at_us ROWS UNBOUNDED PRECEDING) AS BIGINT) AS level,
         lead(at_us) OVER (PARTITION BY grp ORDER BY at_us) - at_us AS held_us
  FROM steps
),
held AS (
  SELECT grp, max(level) AS peak, sum(level * held_us) AS load_us, sum(CASE WHEN level > 0 THEN held_us END) AS busy_us FROM levels GROUP BY grp
)
SELECT known.grp, n, n_total, peak, load_us / 1e6 / seconds AS mean, busy_us / 1e6 / seconds AS busy
FROM known LEFT JOIN held ON known.grp = held.grp CROSS JOIN covered
ORDER BY known.grp
