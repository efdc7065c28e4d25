-- about The length of a step as d0_us + d1_us x streams, one row a group: the median of the slopes between all pairs of classes with 30 clean gaps or more,
-- about and the median of what is left (Theil-Sen, metrics.md 7.2). Without two such classes a group has no row.
WITH
points AS (
  SELECT grp, batch, streams, step_us FROM clean_steps WHERE n >= 30
),
slopes AS (
  SELECT a.grp, quantile_cont((b.step_us - a.step_us) / (b.streams - a.streams), 0.5) AS d1_us
  FROM points AS a JOIN points AS b ON a.grp = b.grp AND a.batch < b.batch
  GROUP BY a.grp
)
SELECT s.grp, quantile_cont(step_us - d1_us * streams, 0.5) AS d0_us, any_value(d1_us) AS d1_us
FROM slopes AS s JOIN points AS p ON s.grp = p.grp
GROUP BY s.grp
