-- about Decode time and the part of it lost to other requests' prefills where only the first token and the end are known, one row a request: the cost of a token
-- about under load times the tokens prefilled meanwhile (metrics.md 4.5 and 4.9). lost_us is NULL where prefill is unknown.
-- param chunk_times BOOLEAN true
SELECT d.*, CASE WHEN pace_us IS NOT NULL
                 THEN CAST(round(least(decode_us * 1e0, greatest(0e0, pace_us + load_us * others) * other_tokens)) AS BIGINT) END AS lost_us
FROM decode_load AS d LEFT JOIN prefill_fits AS f ON f.model = d.model
WHERE chunks IS NULL OR NOT {chunk_times}
