-- about A sequence of Trino holds 10,000 numbers at most: hundreds and ones.
SELECT first_us + (hundred * 400 + one) * {bin_us} AS start_us
FROM (SELECT start_us - mod(start_us, {bin_us}) AS first_us, least(end_us, start_us + 100000 * {bin_us}) AS until_us FROM covered)
     CROSS JOIN UNNEST(sequence(0, 250)) AS hundreds(hundred) CROSS JOIN UNNEST(sequence(0, 399)) AS ones(one)
WHERE first_us + (hundred * 400 + one) * {bin_us} < until_us
