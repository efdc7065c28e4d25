package ingest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"reprise/ingest/trace"
)

// Seen counts what the kept requests of an input are like, beside the columns that they know.
type Seen struct {
	Outcomes map[string]int64 `json:"outcomes"` // by error_class
	Quality  map[string]int64 `json:"quality"`  // by flag; a request may have several
	Streams  int64            `json:"streams"`  // answered calls that were, or may have been, streamed
	Timed    int64            `json:"timed"`    // of these, those whose first token is known
	Coarse   int64            `json:"coarse"`   // times in whole seconds or worse
}

func newSeen() Seen { return Seen{Outcomes: map[string]int64{}, Quality: map[string]int64{}} }

func (s *Seen) see(r *trace.Request) {
	s.Outcomes[r.ErrorClass]++
	if r.Quality != "" {
		s.Quality[r.Quality]++ // add takes the flags apart: a few times a block and not for each request
	}
	if r.ErrorClass == trace.ClassOK && (r.Stream == nil || *r.Stream) {
		s.Streams++
		if r.FirstUS != nil {
			s.Timed++
		}
	}
	if r.TimePrecision >= 1_000_000 {
		s.Coarse++
	}
}

func (s *Seen) add(o Seen) {
	for class, n := range o.Outcomes {
		s.Outcomes[class] += n
	}
	for flags, n := range o.Quality {
		for flag := range strings.SplitSeq(flags, ",") {
			s.Quality[flag] += n
		}
	}
	s.Streams, s.Timed, s.Coarse = s.Streams+o.Streams, s.Timed+o.Timed, s.Coarse+o.Coarse
}

// survivors is from how many calls on it is odd that none failed or was left.
const survivors = 500

// Limits are the at most three things that most limit what can be said of what was kept: by the share of the calls that
// each touches, and by how much of an analysis it takes away.
func (a *Account) Limits() []string {
	t, s := a.Totals, a.Totals.Seen
	if t.Kept == 0 {
		return nil
	}
	type limit struct {
		weight, n, of int64
		text          string
	}
	unknown := func(column string) int64 { return t.Kept - a.Coverage[column] }
	none := int64(0)
	if t.Kept >= survivors && s.Outcomes[trace.ClassOK] == t.Kept {
		none = t.Kept
	}
	limits := []limit{
		{10, unknown("arrival"), t.Kept, "have no arrival: no rates, no time series, and a replay must be told how they arrive"},
		{9, unknown("end_us"), t.Kept, "have no end: their latency is unknown"},
		{8, s.Streams - s.Timed, s.Streams, "of the streams have no first token: no TTFT and no pace for them"},
		{8, s.Outcomes[trace.ClassUnknown], t.Kept, "do not say how they ended: they count in no error rate"},
		{7, none, t.Kept, "ended well: a log without one failed or abandoned call has likely lost them (survivorship)"},
		{6, unknown("output_tokens"), t.Kept, "have no output tokens: no TPOT and no token goodput for them"},
		{6, s.Quality[trace.QNaiveTime], t.Kept, "have times without a zone, read in that of --assume-tz"},
		{5, s.Quality[trace.QSuspectFirst], t.Kept, "have a first token too early for their prompt: the start was stamped late"},
		{4, s.Quality[trace.QTokensEstimated], t.Kept, "have tokens that the gateway estimated with a tokenizer of its own"},
		{4, s.Coarse, t.Kept, "have times in whole seconds: nothing below that is known"},
		{3, unknown("replica"), t.Kept, "name no replica: no stall can be blamed on a neighbour"},
		{2, unknown("gaps_us"), t.Kept, "have no chunk times: stalls are estimated from the ends of calls"},
	}
	slices.SortStableFunc(limits, func(x, y limit) int { return cmp.Compare(y.weight*y.n*x.of, x.weight*x.n*y.of) })
	var out []string
	for _, l := range limits {
		if 100*l.n >= max(l.of, 1) && len(out) < 3 {
			out = append(out, fmt.Sprintf("%d %% %s", Percent(l.n, l.of), l.text))
		}
	}
	return out
}

// Percent is n of a whole as the nearest per cent; 0 and 100 are said of none and all alone.
func Percent(n, of int64) int64 {
	p := (200*n + of) / (2 * of)
	if n > 0 && n < of {
		p = min(max(p, 1), 99)
	}
	return p
}
