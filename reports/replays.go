package reports

import (
	"fmt"
	"strings"

	"reprise/analyze"
)

// replayNotes say how far the replays that made a run can be believed, and what their client can do; the headline
// is for those that cannot be. Nothing for a log.
func replayNotes(list []analyze.Replayed) (headline string, notes []string) {
	for i, p := range list {
		if i == 0 && len(p.Gaps) > 0 {
			headline = "This run is not the whole replay that several clients were to make: " + strings.Join(p.Gaps, "; ") + "."
		}
		if i == 0 && p.Apart != "" {
			notes = append(notes, p.Apart)
		}
		why := ""
		if len(p.Reasons) > 0 {
			why = ": " + strings.Join(p.Reasons, "; ")
		}
		if p.Verdict == "INVALID" {
			headline = "INVALID replay: the latencies below are those of the client, not of the target" + why + "."
		} else {
			of := "this run is a replay"
			if p.Part != "" {
				of += ", " + p.Part
			}
			notes = append(notes, of+": "+p.Verdict+why)
		}
		if p.Incomplete != "" {
			notes = append(notes, "the replay ended early: "+p.Incomplete)
		}
		if c := p.Client; c != nil {
			notes = append(notes, fmt.Sprintf("its client by the self-check of %s: sends within %s, chunk times within %s (p99)", utc(c.AtUS, "2006-01-02"), duration(c.SendP99), duration(c.StampP99)))
		} else {
			notes = append(notes, "what its client can do was never measured (reprise selfcheck)")
		}
	}
	return headline, notes
}
