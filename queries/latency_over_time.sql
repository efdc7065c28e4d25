-- title Latency over time
-- about Exact percentiles by arrival, in steps of bin_us: ttft, tpot and e2e as in the query latency, without failed calls. Only steps in which a call
-- about arrived have a row; a percentile of few calls is noise, see n.
-- level L0
-- param bin_us BIGINT 60000000
-- param metric TEXT all|ttft|tpot|e2e
-- key metric
-- key grp
-- key start_us time
-- column n samples none
-- column n_total samples none
-- column mean ms lower
-- column p50 ms lower
-- column p90 ms lower
-- column p95 ms lower
-- column p99 ms lower
-- column p99_9 ms lower
-- column max ms lower
-- chart line x=start_us y=p50,p95,p99
-- quantiles value_ps 1e9 whole
WITH
asked AS (
  SELECT metric FROM (VALUES ('ttft'), ('tpot'), ('e2e')) AS metrics(metric) WHERE (SELECT metric FROM params) IN ('all', metric)
),
-- answered calls with the start of their step, once a metric as they are read: a union would keep all calls aside. Whole picoseconds, exact for whole
-- microseconds, since integers sort faster; what is longer than 104 days counts as that
samples AS (
  SELECT metric, grp, arrival_us - mod(arrival_us, (SELECT bin_us FROM params)) AS start_us,
         CASE WHEN metric = 'ttft' THEN CASE WHEN ttft_us > 9000000000000 THEN 9000000000000000000 ELSE ttft_us * 1000000 END
              WHEN metric = 'tpot' AND (SELECT metric FROM params) IN ('all', 'tpot')
                THEN CASE WHEN tpot_us > 9e12 THEN 9000000000000000000 ELSE CAST(round(tpot_us * 1e6) AS BIGINT) END
              WHEN metric = 'e2e' AND (SELECT metric FROM params) IN ('all', 'e2e') THEN CASE WHEN e2e_us > 9000000000000 THEN 9000000000000000000 ELSE e2e_us * 1000000 END
              END AS value_ps
  FROM requests CROSS JOIN asked
  WHERE latency AND arrival_us IS NOT NULL
)
