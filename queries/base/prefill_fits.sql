-- about The fitted cost of prefill work, one row a model (metrics.md 4.9): a prompt of u uncached tokens takes a_us + token_us * u (alone_us of a token
-- about on an idle replica, NULL in fits given by hand); a token of another
-- about request's prompt lengthens a decode by pace_us + load_us * (other streams in decode). Analyze fits it; without a row the model has no fit.
-- param fits TEXT
SELECT unnest(from_json(coalesce({fits}, '[]'), '[{"model": "VARCHAR", "a_us": "DOUBLE", "token_us": "DOUBLE", "alone_us": "DOUBLE", "pace_us": "DOUBLE", "load_us": "DOUBLE"}]'), recursive := TRUE)
