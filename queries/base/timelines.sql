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
             list_reduce(
               list_transform(steps, lambda g, i: {'at': CAST(CASE WHEN i = 1 THEN ttft_us ELSE g END AS DOUBLE), 'n': CAST(counts[i] AS DOUBLE), 'pace': pace,
                 'due': CASE WHEN i = 1 THEN CAST(ttft_slo_us AS DOUBLE) ELSE pace END, 'first_due': CAST(ttft_slo_us AS DOUBLE), 'upto': 0e0, 'late': 0e0, 'best': 0e0,
                 'in_time': 0e0, 'decay': 0e0, 'slack': 0e0, 'missed': 0e0, 'total': 0e0, 'tardy': 0e0}),
               lambda a, x: {'at': a.at + x.at, 'n': x.n, 'pace': x.pace, 'due': x.due, 'first_due': x.first_due, 'upto': a.upto + x.n,
                 'late': greatest(a.late, a.at + x.at - x.first_due - a.upto * x.pace),
                 'best': greatest(a.best, a.upto + x.n - greatest(0, a.late, a.at + x.at - x.first_due - a.upto * x.pace) / x.pace),
                 -- tokens of a chunk come together: the later ones are less late, by the pace each
                 'in_time': a.in_time + x.n - least(x.n, greatest(0, ceil((a.at + x.at - x.first_due - a.upto * x.pace) / x.pace))),
                 'decay': a.decay + x.n - least(x.n, greatest(0, ceil((a.at + x.at - x.first_due - a.upto * x.pace) / x.pace)))
                   + exp(-greatest(0, a.at + x.at - x.first_due - (a.upto + least(x.n, greatest(1, ceil((a.at + x.at - x.first_due - a.upto * x.pace) / x.pace))) - 1) * x.pace) / 1e6)
                     * (1 - exp(-least(x.n, greatest(0, ceil((a.at + x.at - x.first_due - a.upto * x.pace) / x.pace))) * x.pace / 1e6)) / (1 - exp(-x.pace / 1e6)),
                 'slack': CASE WHEN x.at <= x.due + a.slack THEN a.slack + x.due - x.at ELSE 0 END + (x.n - 1) * x.pace,
                 'missed': a.missed + CASE WHEN x.at <= x.due + a.slack THEN 0 ELSE floor((x.at - a.slack - x.due) / x.pace) + 1 END,
                 'total': a.total + x.n - 1 + CASE WHEN x.at <= x.due + a.slack THEN 1 ELSE floor((x.at - a.slack - x.due) / x.pace) + 1 END,
                 'tardy': a.tardy + CASE WHEN x.at <= x.due + a.slack THEN 0 ELSE 1 END},
               {'at': 0e0, 'n': 0e0, 'pace': 0e0, 'due': 0e0, 'first_due': 0e0, 'upto': 0e0, 'late': -1e18, 'best': 0e0, 'in_time': 0e0, 'decay': 0e0, 'slack': 0e0,
                'missed': 0e0, 'total': 0e0, 'tardy': 0e0}) AS walk
      FROM (
        SELECT *, CAST(tpot_slo_us AS DOUBLE) AS pace, CASE WHEN counts IS NOT NULL THEN gaps_us END AS steps
        FROM (
          -- as many chunks as tokens: one token each
          SELECT *, CASE WHEN ttft_us IS NULL THEN NULL WHEN len(chunk_tokens) > 0 AND list_min(chunk_tokens) >= 1 THEN CAST(chunk_tokens AS BIGINT[])
                         WHEN len(gaps_us) > 0 AND len(gaps_us) = paced_tokens THEN list_transform(gaps_us, lambda g: CAST(1 AS BIGINT)) END AS counts
          FROM calls
          WHERE generation AND NOT cached_response AND ttft_slo_us IS NOT NULL AND tpot_slo_us IS NOT NULL
        )
      )
    )
  )
)
