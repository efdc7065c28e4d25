-- title What the log can say
-- about By source, of attempts to generate text. level: answered calls with all that a level of analysis needs (L0 an end, L1 a first token, L2 chunk
-- about times, L3 a first token and a replica, L4 cached tokens or prefix blocks, L5 engine stages; L1 to L3 of calls not given whole). field: a known
-- about value. vantage, ttft_kind: whose times and which first event; figures over several do not compare. quality: a flag that ingest raised.
-- level L0
-- key source_format
-- key kind
-- key name
-- column n requests none
-- column n_total requests none
-- column share share none
WITH
kinds AS (
  SELECT source_format, vantage, ttft_kind, count(*) AS n, count(ttft_us) AS timed FROM requests WHERE generation GROUP BY source_format, vantage, ttft_kind
),
totals AS (
  SELECT source_format, CAST(sum(n) AS BIGINT) AS n_total FROM kinds GROUP BY source_format
),
values_seen AS (
  SELECT source_format, 'vantage' AS kind, vantage AS name, CAST(sum(n) AS BIGINT) AS n FROM kinds GROUP BY source_format, vantage
  UNION ALL
  SELECT source_format, 'ttft_kind', ttft_kind, CAST(sum(timed) AS BIGINT) FROM kinds WHERE timed > 0 GROUP BY source_format, ttft_kind
  UNION ALL
  SELECT source_format, 'quality', flag, count(*) FROM flags WHERE generation GROUP BY source_format, flag
),
rows_of_all AS (
  SELECT source_format, kind, name, n, n_total FROM field_counts
  UNION ALL
  SELECT v.source_format, kind, coalesce(name, 'unknown'), n, n_total FROM values_seen AS v JOIN totals ON v.source_format = totals.source_format
)
SELECT source_format, kind, name, n, n_total, CASE WHEN n_total > 0 THEN n * 1e0 / n_total END AS share
FROM rows_of_all
ORDER BY source_format, kind, name
