-- about The burn rate rules (metrics.md 3.6, Google SRE Workbook chapter 5): rule, long_us and short_us of its windows, the burn that both must exceed
-- about (threshold), the time that the log covers (first_us to last_us, whole minutes at the end), and when the long window first lies within it (from_us).
-- param period_days DOUBLE 30
SELECT rule, long_us, short_us, spend_percent * {period_days} * 86400000000 / (100 * long_us) AS threshold, first_us, last_us,
       CAST(ceil((first_us + long_us) / 6e7) AS BIGINT) * 60000000 AS from_us
FROM (VALUES ('1h/5m', 3600000000, 300000000, 2), ('6h/30m', 21600000000, 1800000000, 5), ('3d/6h', 259200000000, 21600000000, 10))
       AS rules(rule, long_us, short_us, spend_percent)
CROSS JOIN (SELECT epoch_us(min(arrival)) AS first_us, epoch_us(max(arrival)) - mod(epoch_us(max(arrival)), 60000000) + 60000000 AS last_us
            FROM attempts WHERE {range} AND {clock})
