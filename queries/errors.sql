-- title Errors
-- about Attempts to generate text that did not end well, by class and HTTP status. share: of all such attempts of the group, answers included.
-- about after_first_token: the answer had begun. tokens: what it had delivered by then, where the log says.
-- level L0
-- key grp
-- key status
-- key error_class
-- key http_status number
-- column n requests lower
-- column share share lower
-- column after_first_token requests none
-- column tokens tokens none
WITH
counted AS (
  SELECT grp, status, error_class, http_status, count(*) AS n, count(ttft_us) AS after_first_token, CAST(sum(output_tokens) AS BIGINT) AS tokens
  FROM requests
  WHERE generation
  GROUP BY grp, status, error_class, http_status
),
shared AS (
  SELECT counted.*, n * 1e0 / sum(n) OVER (PARTITION BY grp) AS share FROM counted
)
SELECT grp, status, error_class, http_status, n, share, after_first_token, tokens
FROM shared
WHERE status NOT IN ('ok', 'ok_length')
ORDER BY grp, status, error_class, http_status NULLS LAST
