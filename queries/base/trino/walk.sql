-- about What the chunks of a call give when they are walked through in order, against the deadlines of their tokens. GREATEST and LEAST in capitals are
-- about Trino's own: nothing here is NULL.
reduce(
               transform(sequence(1, cardinality(steps)), i -> CAST(ROW(CASE WHEN i = 1 THEN ttft_us ELSE steps[i] END, counts[i], CASE WHEN i = 1 THEN ttft_slo_us ELSE pace END)
                 AS ROW(at DOUBLE, n DOUBLE, due DOUBLE))),
               CAST(ROW(0, 0, -1e18, 0, 0, 0, 0, 0, 0, 0) AS ROW(at DOUBLE, upto DOUBLE, late DOUBLE, best DOUBLE, in_time DOUBLE, decay DOUBLE, slack DOUBLE, missed DOUBLE, total DOUBLE, tardy DOUBLE)),
               (a, x) -> CAST(ROW(a.at + x.at, a.upto + x.n,
                 GREATEST(a.late, a.at + x.at - ttft_slo_us - a.upto * pace),
                 GREATEST(a.best, a.upto + x.n - GREATEST(0, a.late, a.at + x.at - ttft_slo_us - a.upto * pace) / pace),
                 -- tokens of a chunk come together: the later ones are less late, by the pace each
                 a.in_time + x.n - LEAST(x.n, GREATEST(0, ceil((a.at + x.at - ttft_slo_us - a.upto * pace) / pace))),
                 a.decay + x.n - LEAST(x.n, GREATEST(0, ceil((a.at + x.at - ttft_slo_us - a.upto * pace) / pace)))
                   + exp(-GREATEST(0, a.at + x.at - ttft_slo_us - (a.upto + LEAST(x.n, GREATEST(1, ceil((a.at + x.at - ttft_slo_us - a.upto * pace) / pace))) - 1) * pace) / 1e6)
                     * (1 - exp(-LEAST(x.n, GREATEST(0, ceil((a.at + x.at - ttft_slo_us - a.upto * pace) / pace))) * pace / 1e6)) / (1 - exp(-pace / 1e6)),
                 CASE WHEN x.at <= x.due + a.slack THEN a.slack + x.due - x.at ELSE 0 END + (x.n - 1) * pace,
                 a.missed + CASE WHEN x.at <= x.due + a.slack THEN 0 ELSE floor((x.at - a.slack - x.due) / pace) + 1 END,
                 a.total + x.n - 1 + CASE WHEN x.at <= x.due + a.slack THEN 1 ELSE floor((x.at - a.slack - x.due) / pace) + 1 END,
                 a.tardy + CASE WHEN x.at <= x.due + a.slack THEN 0 ELSE 1 END)
                 AS ROW(at DOUBLE, upto DOUBLE, late DOUBLE, best DOUBLE, in_time DOUBLE, decay DOUBLE, slack DOUBLE, missed DOUBLE, total DOUBLE, tardy DOUBLE)),
               a -> a)
