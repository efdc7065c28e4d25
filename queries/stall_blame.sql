-- title Who held whom
-- about Decode seconds that the prefills of each tenant (culprit) cost the streams of each tenant (victim), itself too (metrics.md 4.3). The sum is the
-- about lost time of decode_stalls, but for requests whose replica is unknown. Tenants beyond the 20 that lost most are victims together.
-- level L3
-- key culprit
-- key victim
-- column inflicted_s s lower
-- column inflicted_share share none
-- chart heat x=victim y=culprit v=inflicted_s
WITH
summed AS (
  SELECT culprit, victim, sum(inflicted_us) AS inflicted_us FROM blamed GROUP BY culprit, victim
),
shared AS (
  SELECT *, sum(inflicted_us) OVER () AS all_us FROM summed
)
SELECT culprit, victim, inflicted_us / 1e6 AS inflicted_s, inflicted_us * 1e0 / all_us AS inflicted_share
FROM shared
ORDER BY inflicted_us DESC, culprit, victim
