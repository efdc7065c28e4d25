-- title Tokens per chunk
-- about How many tokens a chunk after the first brings, and what that does to the pace: with speculative decoding, or when a server streams every n tokens, the gap
-- about between chunks is the time of a step (gap) and not the pace of the tokens (itl = gap / tokens). By tokens of the chunk (9+ holds all from 9 on), then
-- about all. More tokens a chunk at the same gap is a gain; a longer gap at the same itl is only a coarser stream. itl is counted once a token. Chunks of one
-- about read are merged. Percentiles of type 1. Streams whose tokens per chunk are unknown are left out.
-- level L2
-- key grp
-- key tokens
-- column chunks chunks none
-- column chunk_share share none
-- column token_share share none
-- column mean_tokens tokens higher
-- column gap_mean_ms ms lower
-- column gap_p50_ms ms lower
-- column gap_p99_ms ms lower
-- column itl_mean_ms ms lower
-- column itl_p50_ms ms lower
-- column itl_p99_ms ms lower
-- chart bar x=tokens y=gap_p50_ms,itl_p50_ms
WITH
-- equal chunks are counted together
counted AS (
  SELECT grp, gap_us, tokens, count(*) AS c FROM gaps WHERE tokens >= 1 GROUP BY grp, gap_us, tokens
),
-- each under its own tokens and under all
banded AS (
  SELECT grp, band, gap_us, tokens, c
  FROM counted CROSS JOIN (VALUES ('1', 1, 1), ('2', 2, 2), ('3', 3, 3), ('4', 4, 4), ('5', 5, 5), ('6', 6, 6), ('7', 7, 7), ('8', 8, 8), ('9+', 9, NULL), ('all', 1, NULL))
    AS bands(band, low, high)
  WHERE tokens >= low AND tokens <= coalesce(high, tokens)
),
-- ranks of chunks by gap, of tokens by itl
ranked AS (
  SELECT grp, band, gap_us, tokens, c, sum(c) OVER (PARTITION BY grp, band ORDER BY gap_us, tokens ROWS UNBOUNDED PRECEDING) AS chunk_rank,
         sum(c) OVER (PARTITION BY grp, band) AS chunks, gap_us * 1e0 / tokens AS itl_us,
         sum(c * tokens) OVER (PARTITION BY grp, band ORDER BY gap_us * 1e0 / tokens, tokens ROWS UNBOUNDED PRECEDING) AS token_rank,
         sum(c * tokens) OVER (PARTITION BY grp, band) AS all_tokens
  FROM banded
),
figures AS (
  SELECT grp, band, CAST(sum(c) AS BIGINT) AS chunks, CAST(sum(c * tokens) AS BIGINT) AS all_tokens, CAST(sum(c * gap_us) AS BIGINT) AS time_us,
         min(CASE WHEN chunk_rank * 2 >= chunks THEN gap_us END) AS gap_p50_us, min(CASE WHEN chunk_rank * 100 >= chunks * 99 THEN gap_us END) AS gap_p99_us,
         min(CASE WHEN token_rank * 2 >= all_tokens THEN itl_us END) AS itl_p50_us,
         min(CASE WHEN token_rank * 100 >= all_tokens * 99 THEN itl_us END) AS itl_p99_us
  FROM ranked
  GROUP BY grp, band
)
SELECT figures.grp, figures.band AS tokens, figures.chunks, figures.chunks * 1e0 / whole.chunks AS chunk_share,
       figures.all_tokens * 1e0 / whole.all_tokens AS token_share, figures.all_tokens * 1e0 / figures.chunks AS mean_tokens,
       figures.time_us * 1e-3 / figures.chunks AS gap_mean_ms, figures.gap_p50_us / 1e3 AS gap_p50_ms, figures.gap_p99_us / 1e3 AS gap_p99_ms,
       figures.time_us * 1e-3 / figures.all_tokens AS itl_mean_ms, figures.itl_p50_us / 1e3 AS itl_p50_ms, figures.itl_p99_us / 1e3 AS itl_p99_ms
FROM figures JOIN figures AS whole ON whole.grp = figures.grp AND whole.band = 'all'
ORDER BY figures.grp, figures.band
