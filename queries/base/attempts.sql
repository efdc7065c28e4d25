-- about The raw rows of a run, as they are: the only text that reads Parquet when a run has one source format.
SELECT *, source_format AS told_by, CASE WHEN vantage = 'engine' AND queue_us IS NOT NULL THEN first_us END AS engine_first_us FROM {source}
