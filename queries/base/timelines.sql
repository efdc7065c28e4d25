-- about Calls whose tokens have deadlines and known times (metrics.md 3.3 to 3.5): the i-th token is due at ttft bound + (i - 1) x tpot bound after the start of the
-- about call, the bounds being the SLO's for the row. form: chunks where the tokens of each chunk are known, else ends, from first and last token alone.
-- about tokens: of the stream. late_us: latest against its deadline, of ends a lower bound. raw and best: tokens less late_us over the token pace, of the
-- about whole stream and of its best prefix. Of chunks alone: in_time tokens, decay (sum of exp(-lateness / 1 s)), and of the fluidity index missed and total
-- about deadlines and tardy (tokens that missed one).
SELECT grp, outcome, latency, form, tokens, late_us, in_time, decay, missed, total, tardy,
       tokens - greatest(late_us, 0) / pace AS raw,
       CASE WHEN form IS NULL THEN NULL WHEN form = 'chunks' THEN best
            -- lateness is a straight line from the first token to the last: its best prefix ends at 0, 1, the last, or where lateness sets in
            ELSE greatest(0, 1 - greatest(first_late, 0) / pace, tokens - greatest(late_us, 0) / pace,
                          CASE WHEN slope > 0 AND first_late <= 0 THEN least(kink, tokens) - greatest(0, first_late + (least(kink, tokens) - 1) * slope) / pace END,
                          CASE WHEN slope > 0 AND first_late <= 0 AND kink < tokens THEN kink + 1 - greatest(0, first_late + kink * slope) / pace END) END AS best
FROM (
  SELECT *, CASE form WHEN 'chunks' THEN walk.upto WHEN 'ends' THEN ends_tokens END AS tokens,
         CASE form WHEN 'chunks' THEN walk.late WHEN 'ends' THEN greatest(first_late, CASE WHEN ends_tokens >= 2 THEN last_late END) END AS late_us,
         walk.best AS best, walk.in_time AS in_time, walk.decay AS decay, walk.missed AS missed, walk.total AS total, walk.tardy AS tardy,
         CASE WHEN slope > 0 THEN floor(1 - first_late / slope) END AS kink
  FROM (
    SELECT *, CASE WHEN walk IS NOT NULL THEN 'chunks' WHEN ends_tokens >= 1 AND last_late IS NOT NULL THEN 'ends' END AS form,
           CASE WHEN ends_tokens >= 2 THEN (last_late - first_late) / (ends_tokens - 1) END AS slope
    FROM (
      SELECT *, CAST(paced_tokens AS DOUBLE) AS ends_tokens, CAST(ttft_us - ttft_slo_us AS DOUBLE) AS first_late,
             CAST(ttft_us - first_us + till_us - ttft_slo_us - (paced_tokens - 1) * pace AS DOUBLE) AS last_late,
             {walk} AS walk
      FROM (
        SELECT *, CAST(tpot_slo_us AS DOUBLE) AS pace, CASE WHEN counts IS NOT NULL THEN gaps_us END AS steps
        FROM (
          -- as many chunks as tokens: one token each
          SELECT *, {counts} AS counts
          FROM calls
          WHERE generation AND NOT cached_response AND ttft_slo_us IS NOT NULL AND tpot_slo_us IS NOT NULL
        )
      )
    )
  )
)
