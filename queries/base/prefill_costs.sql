-- about What prefill_fits say of prefills alone: all that prefill_windows hang on, so that these stay the same when only the pace of decodes is fitted anew.
-- param fits TEXT
SELECT unnest(from_json(coalesce({costs}, '[]'), '[{"model": "VARCHAR", "a_us": "DOUBLE", "token_us": "DOUBLE"}]'), recursive := TRUE)
