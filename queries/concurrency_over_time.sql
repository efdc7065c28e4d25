-- title Concurrency over time
-- about As the query concurrency, in steps of bin_us: the most attempts in progress at once in the step, and their mean over the step (the
-- about whole of it, also where the log covers only a part).
-- level L0
-- param bin_us BIGINT 60000000
-- key grp
-- key start_us time
-- column peak requests none
-- column mean requests none
-- chart line x=start_us y=peak,mean
WITH
-- the edges of the steps cut every level, so that no level reaches over an edge
edges AS (
  SELECT grp, start_us AS at_us, 0 AS change FROM (SELECT DISTINCT grp FROM events) AS groups CROSS JOIN bins
),
cuts AS (
  SELECT grp, at_us, sum(change) AS change
  FROM (SELECT grp, at_us, change FROM events UNION ALL SELECT grp, at_us, change FROM edges) AS marks
  GROUP BY grp, at_us
),
-- as in concurrency: changes of one instant are one, and every group ends at level 0
levels AS (
  SELECT grp, at_us - mod(at_us, (SELECT bin_us FROM params)) AS start_us,
         CAST(sum(change) OVER (ORDER BY grp, at_us ROWS UNBOUNDED PRECEDING) AS BIGINT) AS level,
         CASE WHEN lead(grp) OVER (ORDER BY grp, at_us) = grp THEN lead(at_us) OVER (ORDER BY grp, at_us) - at_us END AS held_us
  FROM cuts
)
SELECT grp, start_us, max(level) AS peak, coalesce(sum(level * held_us), 0) * 1e0 / (SELECT bin_us FROM params) AS mean
FROM levels
WHERE start_us < (SELECT end_us FROM covered) AND (held_us > 0 OR held_us IS NULL)
GROUP BY grp, start_us
ORDER BY grp, start_us
