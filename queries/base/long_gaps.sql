-- about Those of paced_gaps that are over 3 x the usual length, and above it by run_us or 100 ms at least: what stands still in them has a cause.
-- param run_us BIGINT 20000
SELECT * FROM paced_gaps WHERE gap_us > 3 * baseline_us AND gap_us - baseline_us >= least({run_us}, 100000)
