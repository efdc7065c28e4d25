-- title Fluidity
-- about Fluidity index (Etalon, metrics.md 3.5) with the SLO's ttft bound as the deadline of the first token and its tpot bound for each later one: time saved is
-- about kept, and after a miss the deadlines start anew. index = 1 - missed / all deadlines, a pause of many paces misses many. index_mean and
-- about fluid_share are over calls, the latter the share of calls with an index of .9 and more; in_time_share counts a late token once. Only calls whose tokens' times
-- about are known; untimed: the others that ended well.
-- level L2
-- metric fluidity | share | token deadlines met when they start anew after a miss
-- key grp
-- column n requests none
-- column untimed requests none
-- column index_mean share higher
-- column index_pooled share higher
-- column fluid_share share higher
-- column in_time_share share higher
-- column tokens tokens none
-- column missed deadlines lower
WITH
measured AS (
  SELECT grp, latency, form, tokens, tardy, missed, total, 1 - missed / total AS fluid FROM timelines
),
counted AS (
  SELECT grp, count(fluid) AS n, count(CASE WHEN latency AND fluid IS NULL THEN 1 END) AS untimed, avg(fluid) AS index_mean, 1 - sum(missed) / sum(total) AS index_pooled,
         avg(CASE WHEN fluid >= 9e-1 THEN 1e0 WHEN fluid IS NOT NULL THEN 0e0 END) AS fluid_share,
         sum(tardy) AS tardy, sum(CASE WHEN form = 'chunks' THEN tokens END) AS tokens, sum(missed) AS missed
  FROM measured
  GROUP BY grp
)
SELECT grp, n, untimed, index_mean, index_pooled, fluid_share, 1 - tardy / tokens AS in_time_share, tokens, missed
FROM counted
ORDER BY grp
