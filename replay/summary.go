package replay

import (
	"fmt"
	"slices"
	"time"
)

// profileBins is the number of equal parts of a plan whose rate the summary shows.
const profileBins = 60

// summarise fills the summary of a plan with scheduled and shaped items, from what was found.
func (p *Plan) summarise(seen *found) {
	s := &p.Summary
	sessions := map[string]bool{}
	shaped, hit := false, int64(0)
	for i := range p.Items {
		it := &p.Items[i]
		if it.SessionID != "" {
			sessions[it.SessionID] = true
		} else {
			s.Sessions++
		}
		s.InputTokens += it.InputTokens
		s.OutputTokens += it.OutputTokens
		hit += it.IdealHit
		shaped = shaped || it.shaped()
		images, tools := media(it.Body)
		s.Images, s.Tools = s.Images+count(images), s.Tools+count(tools)
	}
	s.ToolsLost = seen.toolsLost
	s.Requests, s.Sessions = len(p.Items), s.Sessions+len(sessions)
	s.DurationUS = p.Items[len(p.Items)-1].DueUS
	s.PeakRate = peakRate(p.Items)
	s.PeakConcurrency = peakConcurrency(p.Items)
	s.Profile = profile(p.Items)
	if shaped {
		s.PrefixShare = share(hit, s.InputTokens)
	}
	s.Notices = p.notices(seen)
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

func (it *Item) shaped() bool { return len(it.PrefixIDs) > 0 || it.SystemTokens > 0 }

// peakRate is the most sends within any second (half open).
func peakRate(items []Item) (peak int) {
	from := 0
	for i := range items {
		for items[i].DueUS-items[from].DueUS >= 1e6 {
			from++
		}
		peak = max(peak, i-from+1)
	}
	return peak
}

// peakConcurrency is the most calls open at once if each took as long as recorded; at equal times one that ends makes
// room first. nil when fewer than half of the durations are known.
func peakConcurrency(items []Item) *int {
	var ends []int64
	for i := range items {
		if items[i].EndUS != nil {
			ends = append(ends, items[i].DueUS+*items[i].EndUS)
		}
	}
	if 2*len(ends) < len(items) {
		return nil
	}
	slices.Sort(ends)
	open, peak, next := 0, 0, 0
	for i := range items {
		if items[i].EndUS == nil {
			continue
		}
		for ; next < len(ends) && ends[next] <= items[i].DueUS; next++ {
			open--
		}
		open++
		peak = max(peak, open)
	}
	return &peak
}

func profile(items []Item) []int {
	bins := make([]int, profileBins)
	width := items[len(items)-1].DueUS/profileBins + 1
	for i := range items {
		bins[items[i].DueUS/width]++
	}
	return bins
}

// notices tells what a person should know before sending: a head that is too quiet to compare anything (RPL-20), streams
// that are only assumed, a plan without prompt shape.
func (p *Plan) notices(seen *found) []Notice {
	notices := []Notice{}
	add := func(code, format string, args ...any) {
		notices = append(notices, Notice{code, fmt.Sprintf(format, args...)})
	}
	s := &p.Summary
	if quiet := quietHead(s.Profile); quiet > 0 {
		width := time.Duration(s.DurationUS/profileBins+1) * time.Microsecond
		add("quiet_head", "the first %v of %v have under a tenth of the average rate: --from may be a better start", (time.Duration(quiet) * width).Round(time.Second), (time.Duration(s.DurationUS) * time.Microsecond).Round(time.Second))
	}
	if p.Options.Rate > 0 {
		ramp := ""
		if p.Options.Ramp > 0 {
			ramp = fmt.Sprintf(" after a ramp of %v", p.Options.Ramp)
		}
		add("drawn_arrivals", "arrivals are not recorded ones: drawn, %s, %v a second%s (seed %d)", p.Options.Arrivals, p.Options.Rate, ramp, p.Options.Seed)
	}
	if unknown := seen.unknown; unknown > 0 {
		add("stream_unknown", "%d of %d requests do not say whether they were streamed: sent as streams", unknown, s.Requests)
	}
	if n := p.cutSessions(seen); n > 0 {
		add("sessions_cut", "%d sessions lost turns to the filter: their later turns hold what the earlier ones asked, but no cache will know it", n)
	}
	if s.ToolsLost > 0 {
		add("tools_lost", "%d requests ended in a tool call and their bodies were not kept: sent as plain text without tools", s.ToolsLost)
	}
	if s.PrefixShare == nil {
		add("no_prompt_shape", "the log has no prompt shape: every prompt will be unique, so a prefix cache has nothing to find")
	}
	return notices
}

// cutSessions counts sessions of which only a part is sent.
func (p *Plan) cutSessions(seen *found) int {
	cut := map[string]bool{}
	for i := range p.Items {
		if id := p.Items[i].SessionID; seen.cut[id] {
			cut[id] = true
		}
	}
	return len(cut)
}

// quietHead is the number of leading parts with under a tenth of the average rate, when they are a tenth of all or more.
func quietHead(bins []int) int {
	sum := 0
	for _, n := range bins {
		sum += n
	}
	quiet := 0
	for quiet < len(bins) && bins[quiet]*len(bins)*10 < sum {
		quiet++
	}
	if quiet*10 < len(bins) {
		return 0
	}
	return quiet
}
