-- title Requests that held others
-- about The requests whose prefill cost other streams of the replica the most decode time (metrics.md 4.3): a gap's lost time is split among the prefills
-- about that lie in it by overlap, within one step of the engine by tokens. tokens are those prefilled as far as known (source assumed: not streamed;
-- about uncached_tokens NULL: cached part unknown, the median of the route taken). streams is how many decoded at some time of the prefill.
-- level L3
-- param top BIGINT 20
-- key request_id
-- key attempt number
-- column tenant text none
-- column model text none
-- column replica text none
-- column arrival_us time none
-- column input_tokens tokens none
-- column uncached_tokens tokens none
-- column prefill_ms ms none
-- column source text none
-- column streams requests none
-- column inflicted_s s lower
-- column inflicted_share share none
WITH
summed AS (
  SELECT request_id, attempt, arrival_us, sum(inflicted_us) AS inflicted_us FROM blamed GROUP BY request_id, attempt, arrival_us
),
ranked AS (
  SELECT *, row_number() OVER (ORDER BY inflicted_us DESC, request_id, attempt, arrival_us) AS place, sum(inflicted_us) OVER () AS all_us FROM summed
),
worst AS (
  SELECT place, inflicted_us, all_us, w.* FROM ranked AS r JOIN stretched_windows AS w ON w.request_id = r.request_id AND w.attempt = r.attempt AND w.arrival_us = r.arrival_us
  WHERE place <= (SELECT top FROM params)
),
held AS (
  SELECT w.request_id, w.attempt, w.arrival_us, count(DISTINCT (v.request_id, v.attempt, v.arrival_us)) AS streams
  FROM worst AS w JOIN stream_spans AS v ON v.replica = w.replica AND v.start_us < w.end_us AND v.end_us > w.start_us
  GROUP BY w.request_id, w.attempt, w.arrival_us
)
SELECT w.request_id, w.attempt, w.tenant, w.model, w.replica, w.arrival_us, input_tokens, uncached_tokens, (w.end_us - w.start_us) / 1e3 AS prefill_ms, source,
       streams, inflicted_us / 1e6 AS inflicted_s, inflicted_us * 1e0 / all_us AS inflicted_share
FROM worst AS w
JOIN held AS h ON h.request_id = w.request_id AND h.attempt = w.attempt AND h.arrival_us = w.arrival_us
JOIN requests AS r ON r.request_id = w.request_id AND r.attempt = w.attempt AND r.arrival_us = w.arrival_us
ORDER BY place
