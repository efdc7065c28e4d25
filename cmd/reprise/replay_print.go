package main

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"

	"reprise/replay"
)

func (a *app) printReplay(r *replay.Report, run string) {
	classes := map[string]int64{}
	for k, n := range maps.All(r.Classes) {
		classes[k] = int64(n)
	}
	fmt.Fprintf(a.out, "sent %s/%s  %s  %s\n", count(int64(r.Sent)), count(int64(r.Planned)), lateness(r), strings.ToUpper(r.Fidelity.Verdict))
	for _, reason := range r.Fidelity.Reasons {
		fmt.Fprintf(a.out, "  %s\n", printable(reason))
	}
	fmt.Fprintf(a.out, "outcomes: %s\n", reasons(classes))
	for _, e := range r.Examples {
		fmt.Fprintf(a.out, "  %s, for example %s: %s\n", count(int64(e.Count)), printable(e.RequestID), printable(exampleText(e)))
	}
	if r.SelfCheck != nil { // a notice says when it is missing
		fmt.Fprintln(a.out, selfCheckLine(r.SelfCheck))
	}
	for _, m := range r.Metrics {
		fmt.Fprintf(a.out, "target metrics of %s: %s values in %d readings, %d failed %s\n", printable(m.Endpoint), count(int64(m.Samples)), m.Read, m.Failed, printable(m.Error))
	}
	for _, n := range r.Notices {
		fmt.Fprintf(a.out, "note: %s\n", printable(n.Message))
	}
	a.talk("next: reprise compare BASE %s", run)
}

func exampleText(e replay.Example) string {
	s := e.Class
	if e.Status != 0 {
		s += fmt.Sprintf(", HTTP %d", e.Status)
	}
	for _, more := range []string{e.Reason, e.Code} {
		if more != "" {
			s += ", " + more
		}
	}
	if e.RetryAfterS > 0 {
		s += fmt.Sprintf(", retry after %d s", e.RetryAfterS)
	}
	return s
}

// sending draws the progress of a replay on a terminal.
type sending struct{ *progressbar.ProgressBar }

func (a *app) replayProgress(n int) sending {
	if a.quiet || !a.terminal {
		return sending{}
	}
	return sending{progressbar.NewOptions(n, progressbar.OptionSetWriter(a.err), progressbar.OptionShowCount(), progressbar.OptionClearOnFinish(),
		progressbar.OptionSetDescription("sending"))}
}

func (s sending) show(p replay.Progress) {
	if s.ProgressBar != nil {
		s.Describe(fmt.Sprintf("sent %d, open %d, failed %d, lag %s", p.Sent, p.InFlight, p.Failed, p.Lag.Round(10*time.Microsecond)))
		s.Set(p.Done)
	}
}

func (s sending) done() {
	if s.ProgressBar != nil {
		s.Finish()
	}
}

// orElse is d, or other when d was not given.
func orElse(d, other time.Duration) time.Duration {
	if d == 0 {
		return other
	}
	return d
}

func lateness(r *replay.Report) string {
	return fmt.Sprintf("late p99 %.1f ms", r.Fidelity.Lag.P99US/1000)
}
