-- title Concurrency
-- about Attempts in progress at once, from arrival to end, half open: who ends at an instant has left before who comes. peak: the most at one time.
-- about mean: over the time covered, so that mean = arrivals a second x seconds an attempt (Little's law). busy: share of that time with at least one.
-- about Attempts without an arrival or an end are left out (n_total - n). Those that began before the range are not seen.
-- level L0
-- metric concurrency | requests | sweep over [arrival, end); ends before starts at equal times
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
-- who comes and who leaves at one instant is one change: the level of an instant holds from it on. Every group ends at
-- level 0, so one sum over all groups in order serves them all
levels AS (
  SELECT grp, CAST(sum(change) OVER (ORDER BY grp, at_us ROWS UNBOUNDED PRECEDING) AS BIGINT) AS level,
         lead(at_us) OVER (ORDER BY grp, at_us) - at_us AS held_us
  FROM (SELECT grp, at_us, sum(change) AS change FROM events GROUP BY grp, at_us) AS instants
),
held AS (
  SELECT grp, max(level) AS peak, sum(level * held_us) AS load_us, sum(held_us) AS busy_us
  FROM levels
  WHERE held_us > 0 AND level > 0
  GROUP BY grp
)
SELECT known.grp, n, n_total, CASE WHEN n > 0 THEN coalesce(peak, 0) END AS peak,
       CASE WHEN n > 0 THEN coalesce(load_us, 0) / 1e6 / seconds END AS mean, CASE WHEN n > 0 THEN coalesce(busy_us, 0) / 1e6 / seconds END AS busy
FROM known LEFT JOIN held ON known.grp = held.grp CROSS JOIN covered
ORDER BY known.grp
