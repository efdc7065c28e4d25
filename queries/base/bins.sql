-- about The starts of the steps of bin_us that the time covered touches, also those in which nothing happened; at most 100,000.
-- param bin_us BIGINT 60000000
SELECT unnest(range(start_us - mod(start_us, {bin_us}), least(end_us, start_us + 100000 * {bin_us}), {bin_us})) AS start_us
FROM covered
