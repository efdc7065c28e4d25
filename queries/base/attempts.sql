-- about The raw rows of a run, as they are: the only text that reads Parquet when a run has one source format.
SELECT *, source_format AS told_by FROM {source}
