-- about What the chunks of a call give when they are walked through in order, against the deadlines of their tokens.
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
                'missed': 0e0, 'total': 0e0, 'tardy': 0e0})
