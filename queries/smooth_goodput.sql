-- title Smooth goodput
-- about What delivered tokens were worth to a reader at the SLO's pace (metrics.md 3.4, after arXiv 2410.14257). A call is worth its tokens less those that the reader
-- about would have read while waiting: tokens - (latest lateness / tpot bound), deadlines as in the query deadlines. smooth: of the best prefix of each call, so
-- about that breaking off is never rewarded; raw: of the whole stream. decay: each token weighs exp(-lateness / 1 s). Tokens of failed calls count.
-- about Of from_ends only first and last token are known: the times between are put on a straight line, and decay is not given. untimed calls are out.
-- level L1
-- metric smooth goodput | tokens/s | tokens less those that a reader at the tpot bound missed while waiting, of the best prefix
-- key grp
-- column n requests none
-- column from_ends requests none
-- column untimed requests none
-- column delivered_per_s tokens/s higher
-- column smooth_per_s tokens/s higher
-- column raw_per_s tokens/s higher
-- column decay_per_s tokens/s higher
-- column smooth_ratio share higher
WITH
counted AS (
  SELECT grp, count(form) AS n, count(CASE WHEN form = 'ends' THEN 1 END) AS from_ends, count(CASE WHEN latency AND form IS NULL THEN 1 END) AS untimed,
         sum(tokens) AS tokens, sum(best) AS best, sum(raw) AS raw, sum(decay) AS decay
  FROM timelines
  GROUP BY grp
)
SELECT grp, n, from_ends, untimed, tokens / seconds AS delivered_per_s, best / seconds AS smooth_per_s, raw / seconds AS raw_per_s,
       CASE WHEN from_ends = 0 THEN decay / seconds END AS decay_per_s, best / nullif(tokens, 0) AS smooth_ratio
FROM counted CROSS JOIN covered
ORDER BY grp
