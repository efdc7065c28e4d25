-- title Load and saturation
-- about Attempts to generate text, from the first to the last arrival (or over the range asked for; those that began before it are not seen). Completed: answered, or
-- about left by the caller, or ended in a way that the log does not tell. Little's law says mean_concurrency = arrivals a second x mean_s (the mean duration); little_gap = their difference / mean_concurrency.
-- about Above 5 % the stretch is too short for its calls, or did not stand still (metrics.md 1.3). completed_share: completed / arrived, in the second half of the
-- about stretch, without client errors and calls of which the log tells no end (unknown where it tells that of failures alone). The trends are Mann-Kendall's z over 30 equal steps of mean concurrency, mean ttft and arrivals; above 2.33 it grows
-- about (1 %). saturated (metrics.md 7.3): yes with a completed_share under 95 %, or if concurrency and ttft grow and arrivals do not; unknown where these grow
-- about too, or with under 50 arrivals in the second half.
-- level L0
-- metric load | - | Little's law, completed / arrived, growth, saturated or not
-- key grp
-- column n requests none
-- column seconds s none
-- column arrivals_per_s requests/s none
-- column completed_per_s requests/s higher
-- column mean_concurrency requests none
-- column mean_s s lower
-- column little_gap share none
-- column completed_share share higher
-- column concurrency_trend z none
-- column ttft_trend z none
-- column arrivals_trend z none
-- column saturated text none
WITH
asked AS (
  SELECT grp, until_us - start_us AS us, status <> 'client_error' AND (end_us >= 0 OR status IN ('failed', 'in_flight')) AS counts,
         outcome IN ('ok', 'cancelled', 'unknown') AS completes, outcome IN ('ok', 'cancelled', 'unknown') AND end_us >= 0 AND arrival_us + end_us < until_us AS completed,
         CASE WHEN end_us >= 0 THEN end_us END AS took_us, until_us - arrival_us AS left_us,
         2 * arrival_us >= start_us + until_us AS late, 2 * (arrival_us + end_us) >= start_us + until_us AS ends_late
  FROM requests CROSS JOIN stretch
  WHERE generation AND NOT cached_response AND arrival_us IS NOT NULL AND until_us - start_us > 1
),
summed AS (
  SELECT grp, us, count(*) AS n, sum(CASE WHEN completed THEN 1 ELSE 0 END) AS completed, count(took_us) AS n_took, sum(took_us) AS took_us,
         -- of the calls that can complete some tell when, or there are none
         sum(CASE WHEN took_us >= 0 AND completes THEN 1 ELSE 0 END) > 0 OR sum(CASE WHEN completes THEN 1 ELSE 0 END) = 0 AS told,
         sum(CASE WHEN took_us > left_us THEN left_us ELSE took_us END) AS load_us, sum(CASE WHEN late AND counts THEN 1 ELSE 0 END) AS offered_late,
         sum(CASE WHEN completed AND ends_late THEN 1 ELSE 0 END) AS completed_late
  FROM asked
  GROUP BY grp, us
),
signs AS (
  SELECT a.grp, sign(b.load_us - a.load_us) AS load, sign(b.ttft_us - a.ttft_us) AS ttft, sign(b.arrivals - a.arrivals) AS arrivals
  FROM load_steps AS a JOIN load_steps AS b ON a.grp = b.grp AND a.step < b.step
),
pairs_of AS (
  SELECT grp, sum(load) AS load, sum(ttft) AS ttft, sum(arrivals) AS arrivals FROM signs GROUP BY grp
),
-- Mann-Kendall: z = (S - sign S) / sqrt(n (n - 1) (2n + 5) / 18); ties make it cautious
trends AS (
  SELECT p.grp, (load - sign(load)) / sqrt(30 * 29 * 65 / 18e0) AS load_z, (arrivals - sign(arrivals)) / sqrt(30 * 29 * 65 / 18e0) AS arrivals_z,
         CASE WHEN n >= 10 THEN (ttft - sign(ttft)) / sqrt(n * (n - 1) * (2 * n + 5) / 18e0) END AS ttft_z
  FROM pairs_of AS p JOIN (SELECT grp, count(ttft_us) AS n FROM load_steps GROUP BY grp) AS s ON s.grp = p.grp
),
shared AS (
  SELECT s.*, load_us * 1e0 / us AS mean_concurrency, CASE WHEN offered_late > 0 AND told THEN completed_late * 1e0 / offered_late END AS completed_share,
         load_z, ttft_z, arrivals_z
  FROM summed AS s LEFT JOIN trends AS t ON t.grp = s.grp
)
SELECT grp, n, us / 1e6 AS seconds, n * 1e6 / us AS arrivals_per_s, CASE WHEN n_took > 0 AND told THEN completed * 1e6 / us END AS completed_per_s, mean_concurrency, took_us / 1e6 / n_took AS mean_s,
       abs(load_us - took_us) * 1e0 / nullif(load_us, 0) AS little_gap, completed_share, CASE WHEN n_took > 0 THEN load_z END AS concurrency_trend, ttft_z AS ttft_trend,
       arrivals_z AS arrivals_trend,
       CASE WHEN offered_late < 50 THEN 'unknown' WHEN completed_share < 95e-2 THEN 'yes' WHEN load_z <= 233e-2 OR ttft_z <= 233e-2 THEN 'no'
            WHEN arrivals_z <= 233e-2 AND ttft_z IS NOT NULL THEN 'yes' ELSE 'unknown' END AS saturated
FROM shared
ORDER BY grp
