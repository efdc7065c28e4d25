package analyze

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"reprise/ingest/trace"
)

// The oracle does what metrics.md 4 says with loops over all pairs, and shares no code with the queries.

const (
	oracleA, oracleB = 9e3, 90.0 // us, us a token
	oraclePace       = 120.0     // us a token for a decode,
	oracleLoad       = -8.0      // and for each other stream
)

var oracleFits = map[string]string{"fits": fmt.Sprintf(`[{"model":"m","a_us":%g,"token_us":%g,"pace_us":%g,"load_us":%g}]`,
	oracleA, oracleB, oraclePace, oracleLoad)}

func (s span) overlap(o span) int64 { return max(0, min(s.to, o.to)-max(s.from, o.from)) }

// union is the length of a that the spans cover, however often: all borders cut a into pieces that are in or out.
func union(a span, spans []span) int64 {
	cuts := []int64{a.from, a.to}
	for _, s := range spans {
		cuts = append(cuts, min(max(s.from, a.from), a.to), min(max(s.to, a.from), a.to))
	}
	slices.Sort(cuts)
	var sum int64
	for i := 1; i < len(cuts); i++ {
		for _, s := range spans {
			if s.from <= cuts[i-1] && cuts[i] <= s.to {
				sum += cuts[i] - cuts[i-1]
				break
			}
		}
	}
	return sum
}

type oracleWindow struct {
	r      *trace.Request
	span   span // as stretched
	fitted span
	floor  int64
	share  float64
	tokens float64
	step   int // windows of one step of the engine have the same
	fixed  bool
}

type oracleGap struct {
	r                     *trace.Request
	k                     int
	span                  span
	streams, after        int
	load, baseline, later float64
	excess, covered, lost int64
	overlap               int64
	stalled               bool
	label                 string
	clean                 bool
	coverage              float64
	inflicted             map[*trace.Request]float64
}

func (g oracleGap) length() int64 { return g.span.to - g.span.from }

func firstAt(r *trace.Request) int64 { return *r.Arrival + *r.FirstUS }

func decodes(rows []*trace.Request, at int64) int {
	n := 0
	for _, r := range rows {
		if r.FirstUS != nil && firstAt(r) <= at && at < *r.Arrival+*r.LastUS {
			n++
		}
	}
	return n
}

// oracleWindows lays the windows of one replica.
func oracleWindows(rows []*trace.Request) []oracleWindow {
	var out []oracleWindow
	var streamed []*trace.Request
	for i, r := range rows {
		u := float64(*r.InputTokens - *r.CachedInputTokens)
		switch {
		case r.PrefillUS != nil:
			s := span{firstAt(r) - *r.PrefillUS, firstAt(r)}
			out = append(out, oracleWindow{r: r, span: s, fitted: s, tokens: u, share: 1, step: -1 - i, fixed: true})
		case r.FirstUS == nil:
			s := span{*r.Arrival, *r.Arrival + min(int64(math.Round(oracleA+oracleB*u)), *r.EndUS)}
			out = append(out, oracleWindow{r: r, span: s, fitted: s, tokens: u, share: 1, step: -1 - i, fixed: true})
		default:
			streamed = append(streamed, r)
		}
	}
	slices.SortFunc(streamed, func(a, b *trace.Request) int { return cmp.Compare(firstAt(a), firstAt(b)) })
	for i := 0; i < len(streamed); {
		j := i + 1
		for j < len(streamed) && firstAt(streamed[j])-firstAt(streamed[j-1]) <= 1000 {
			j++
		}
		out = append(out, oracleStep(streamed[i:j], i)...)
		i = j
	}
	return out
}

func oracleStep(group []*trace.Request, step int) []oracleWindow {
	sum, floor, end := 0.0, int64(math.MaxInt64), int64(0)
	for _, r := range group {
		sum += float64(*r.InputTokens - *r.CachedInputTokens)
		floor, end = min(floor, *r.Arrival), max(end, firstAt(r))
	}
	s := span{max(floor, end-int64(math.Round(oracleA+oracleB*sum))), end}
	var out []oracleWindow
	for _, r := range group {
		u := float64(*r.InputTokens - *r.CachedInputTokens)
		share := 1 / float64(len(group))
		if sum > 0 {
			share = u / sum
		}
		out = append(out, oracleWindow{r: r, span: s, fitted: s, floor: floor, tokens: u, share: share, step: step})
	}
	return out
}

// oracleGaps finds the gaps of one replica, their usual length and their excess.
func oracleGaps(rows []*trace.Request, windows []oracleWindow) []*oracleGap {
	var out []*oracleGap
	for _, r := range rows {
		at := *r.Arrival
		var tokens []float64
		for _, n := range r.ChunkTokens {
			tokens = append(tokens, float64(n))
		}
		slices.Sort(tokens)
		for i, g := range r.GapsUS {
			if i > 0 {
				usual := (tokens[(len(tokens)-1)/2] + tokens[len(tokens)/2]) / 2
				out = append(out, &oracleGap{r: r, k: i + 1, span: span{at, at + int64(g)}, load: max(1, float64(r.ChunkTokens[i])/usual),
					streams: decodes(rows, at), after: decodes(rows, at+int64(g)), inflicted: map[*trace.Request]float64{}})
			}
			at += int64(g)
		}
	}
	for _, g := range out {
		g.clean = union(g.span, spansOf(windows, true)) < 100
	}
	for _, g := range out {
		g.baseline, g.later = oracleBaseline(out, g.streams), oracleBaseline(out, g.after)
		g.excess = max(0, g.length()-int64(math.Round(g.baseline*g.load)))
		g.stalled = float64(g.length()) > 3*g.baseline && float64(g.length())-g.baseline >= 1e5
	}
	return out
}

func spansOf(windows []oracleWindow, fitted bool) []span {
	var out []span
	for _, w := range windows {
		if fitted {
			out = append(out, w.fitted)
		} else {
			out = append(out, w.span)
		}
	}
	return out
}

// oracleBaseline is the median of clean gaps at that number of streams, else the largest of those at fewer, else that
// of all; everything lies within one hour.
func oracleBaseline(gaps []*oracleGap, streams int) float64 {
	at := map[int][]int64{}
	var all []int64
	streams = class(streams)
	for _, g := range gaps {
		if g.clean {
			at[class(g.streams)] = append(at[class(g.streams)], g.length())
			all = append(all, g.length())
		}
	}
	if len(at[streams]) >= 30 {
		return middle(at[streams])
	}
	best := 0.0
	for n := range streams {
		if len(at[n]) >= 30 {
			best = max(best, middle(at[n]))
		}
	}
	if best > 0 {
		return best
	}
	return middle(all)
}

// class puts numbers from 8 on into four classes an octave.
func class(streams int) int {
	width := 1
	for streams >= 8*width {
		width *= 2
	}
	return streams / width * width
}

func middle(v []int64) float64 {
	slices.Sort(v)
	return float64(v[(len(v)-1)/2]+v[len(v)/2]) / 2
}

// stretchWindows moves windows that begin inside a run of stalled gaps back to its start.
func stretchWindows(windows []oracleWindow, gaps []*oracleGap) {
	var held []span
	for _, g := range gaps {
		if over := float64(g.length()) - g.baseline; float64(g.length()) > 3*g.baseline && over >= 2e4 && float64(g.excess) >= .5*over {
			held = append(held, g.span)
		}
	}
	slices.SortFunc(held, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	var runs []span
	for _, s := range held {
		if n := len(runs); n > 0 && s.from <= runs[n-1].to+2000 {
			runs[n-1].to = max(runs[n-1].to, s.to)
		} else {
			runs = append(runs, s)
		}
	}
	for i := range windows {
		w := &windows[i]
		for _, run := range runs {
			if !w.fixed && run.from <= w.fitted.from && w.fitted.from < run.to {
				limit := w.fitted.to - int64(math.Round(3*float64(w.fitted.to-w.fitted.from)))
				w.span.from = min(w.fitted.from, max(w.floor, run.from, limit))
			}
		}
	}
}

// blame attributes the excess of each gap and labels the stalls.
func blame(rows []*trace.Request, windows []oracleWindow, gaps []*oracleGap) {
	var waits []span
	for _, w := range windows {
		waits = append(waits, span{*w.r.Arrival, w.span.to})
	}
	for _, g := range gaps {
		if g.excess > 0 {
			g.covered = union(g.span, spansOf(windows, false))
		}
		g.lost = min(g.excess, g.covered)
		steps := map[int]int64{}
		for _, w := range windows {
			if g.excess > 0 {
				steps[w.step] = w.span.overlap(g.span)
			}
		}
		for _, o := range steps {
			g.overlap += o
		}
		for _, w := range windows {
			if o := w.span.overlap(g.span); o > 0 && g.lost > 0 {
				g.inflicted[w.r] += float64(g.lost) * w.share * float64(o) / float64(g.overlap)
			}
		}
		g.label = oracleLabel(g, rows, gaps, waits)
	}
}

func oracleLabel(g *oracleGap, rows []*trace.Request, gaps []*oracleGap, waits []span) string {
	middle := g.span.from + g.length()/2
	held, decoders := 0, decodes(rows, middle)
	for _, o := range gaps {
		if o.stalled && o.span.from <= middle && middle < o.span.to {
			held++
		}
	}
	g.coverage = float64(held) / float64(decoders)
	switch {
	case !g.stalled:
		return ""
	case float64(g.excess) < .5*(float64(g.length())-g.baseline):
		return "delivery"
	case float64(g.lost) >= .5*float64(g.excess):
		return "prefill"
	case g.coverage >= .8 && float64(union(g.span, waits)) >= .5*float64(g.length()):
		return "blocked_ambiguous"
	case g.coverage >= .8 && decoders >= 3:
		return "pause"
	case g.coverage < .5:
		return "local"
	case float64(g.length())-g.later < .5*float64(g.excess):
		return "batch_growth"
	}
	return "unexplained"
}
