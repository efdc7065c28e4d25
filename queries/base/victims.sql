-- about Tenants whose streams lost something to prefills: the 20 that lost most stand alone, the others together as "other tenants".
WITH
tenants AS (
  SELECT tenant, sum(lost_us) AS lost_us FROM stall_sums WHERE lost_us > 0 GROUP BY tenant
)
SELECT tenant, CASE WHEN row_number() OVER (ORDER BY lost_us DESC, tenant) <= 20 THEN tenant ELSE 'other tenants' END AS victim FROM tenants
