package reports

import "reprise/analyze"

func ptr[T any](v T) *T { return &v }

func deltaOf(metric string, q, base, cand, lo, hi float64, verdict string) analyze.Delta {
	return analyze.Delta{Metric: metric, Quantile: q, Unit: "ms", N: 4600, Base: base, Cand: cand, Diff: cand - base, Ratio: ptr(cand / base),
		CI: &[2]float64{lo, hi}, Upper: ptr(hi), P: .01, PAdj: ptr(.03), Gated: metric != "max_gap", Verdict: verdict}
}

// comparison is the migration story of the design with a hostile run name.
func comparison() *analyze.Comparison {
	c := &analyze.Comparison{Base: "runs/h100", Cand: "runs/" + hostile, Verdict: analyze.Worse, GateFailed: true, Comparable: true, Margin: .1, Pairs: 4812,
		Paired: analyze.PairCounts{BothOK: 4600, OKToNot: 12, NotToOK: 4},
		Sides: map[string]*analyze.Side{
			"base": {Requests: 4812, InWindow: 4812, Vantages: []string{"replay"}, TTFTKinds: []string{"any_token"}, InputTokens: ptr(int64(9123456)), OutputTokens: ptr(int64(812345)), CachedShare: ptr(.41), SendLagP99: ptr(.4)},
			"cand": {Requests: 4812, InWindow: 4812, Vantages: []string{"replay"}, InputTokens: ptr(int64(9123456)), OutputTokens: ptr(int64(812001)), CachedShare: ptr(.409)},
		},
		Fidelity: analyze.Fidelity{ArrivalKS: ptr(.004), ArrivalShift: ptr(1.2), RateRatio: ptr(1.0001), InputRatio: ptr(1.0), InputSame: ptr(1.0), OutputRatio: ptr(.9996)},
		Resample: analyze.Resample{Unit: "session", Clusters: 1904, B: 2000, Seed: 1},
		Metrics: []analyze.Delta{
			deltaOf("ttft", .5, 212, 180, .83, .87, analyze.Better), deltaOf("ttft", .95, 1402, 967, .65, .73, analyze.Better), deltaOf("ttft", .99, 4912, 4700, .8, 1.2, analyze.Inconclusive),
			deltaOf("tpot", .5, 31, 32, 1.02, 1.05, analyze.NonInferior), deltaOf("tpot", .99, 112, 137.8, 1.18, 1.29, analyze.Worse),
			{Metric: "max_gap", Quantile: .5, N: 40, Base: 0, Cand: 12, Verdict: analyze.Inconclusive, LowN: true},
		},
		Absent: []analyze.Absence{{Metric: "e2e", Reason: "the candidate wrote 1.20 times the output tokens of the base"}},
		LongGaps: []analyze.CountDelta{
			{Over: 100, Base: 900, Cand: 1204, Ratio: &analyze.RatioCI{Ratio: 1.338, CI: [2]float64{1.2, 1.5}}, Verdict: analyze.Worse},
			{Over: 400, Base: 0, Cand: 3, Verdict: analyze.Inconclusive},
		},
		Failures: analyze.ShareDelta{N: 4812, Base: ptr(.001), Cand: ptr(.0025), Diff: ptr(.0015), Gained: 12, Lost: 4, P: .08, Verdict: analyze.Inconclusive},
		SLO: &analyze.SLODelta{Text: "ttft<=1s,tpot<=60ms@99%", Objective: ptr(.99),
			Good: analyze.ShareDelta{N: 4700, Base: ptr(.962), Cand: ptr(.918), Gained: 92, Lost: 304, Verdict: analyze.Worse},
			Base: analyze.SLOSide{Good: 4521, Share: ptr(.962), CI: [2]float64{.956, .967}, Met: "fail", RequestsPS: ptr(1.26), TokensPS: ptr(210.5)},
			Cand: analyze.SLOSide{Good: 4315, Share: ptr(.918), CI: [2]float64{.91, .926}, Met: "fail", RequestsPS: ptr(1.2), TokensPS: nil}},
		Groups:   []analyze.GroupDelta{{Group: hostile, Pairs: 900, Metrics: []analyze.Delta{deltaOf("tpot", .99, 110, 150, 1.2, 1.5, analyze.Worse)}}},
		Turned:   []analyze.Turned{{ID: "req-1" + hostile, To: "bad", Base: analyze.TurnedSide{Status: "ok", TTFT: ptr(212.5), TPOT: ptr(31.0)}, Cand: analyze.TurnedSide{Status: "failed"}}},
		Warnings: []analyze.Warning{{Code: "cache", Message: "one of them may have been warm"}},
	}
	for _, m := range []string{"ttft", "tpot"} {
		curve := analyze.Curve{Metric: m}
		v := 20.0
		for i := 0; i <= 100; i++ {
			v *= 1.04
			curve.P, curve.Base, curve.Cand = append(curve.P, float64(i)/100), append(curve.Base, v), append(curve.Cand, v*(0.8+float64(i)/250))
		}
		c.Curves = append(c.Curves, curve)
	}
	return c
}
