-- title Overview
-- about Requests by group, with their status, the time they cover and their token totals; nothing is left out.
-- level L0
-- key grp
-- column n requests none
WITH
counted AS (
  SELECT grp, count(*) AS n FROM requests GROUP BY grp
)
SELECT grp, n FROM counted ORDER BY grp
