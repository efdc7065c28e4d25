package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"reprise/replay"
	"reprise/replay/selfcheck"
)

func (a *app) selfcheckCommand() *cobra.Command {
	var asJSON bool
	var budget time.Duration
	cmd := &cobra.Command{
		Use:   "selfcheck",
		Short: "what this client can do on this machine, measured against a server of known timing",
		Long: `Measures this client on this machine against a server of known timing in the same process: how late requests leave, how far
the times of chunks are from the truth (by the kernel's stamps, and by the clock), how many streams at once and how many
requests a second it carries before a send is 5 ms late or a chunk time 1 ms off (99th percentiles). Beside each figure
stands its floor: how late the server itself was, how late a sleeping thread wakes here. The server shares the processors,
so what is carried is a lower bound for a target elsewhere. The result is kept, and stored with every replay from then on.`,
		Example: "  reprise selfcheck\n  reprise selfcheck --json | jq .streams.carried",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.selfcheck(cmd.Context(), budget)
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(a.out).Encode(c)
			}
			return a.printSelfCheck(c)
		},
	}
	cmd.Flags().DurationVar(&budget, "time", selfcheck.DefaultBudget, "about how long it may take; less is less exact")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	return cmd
}

// selfcheck measures and keeps the result for later replays on this machine.
func (a *app) selfcheck(ctx context.Context, budget time.Duration) (*replay.SelfCheck, error) {
	c, err := selfcheck.Run(ctx, budget, func(what string) { a.talk("measuring %s", what) })
	if err != nil {
		return nil, err
	}
	path, err := selfCheckFile()
	if err == nil {
		err = keep(path, c)
	}
	if err != nil {
		a.talk("warning: the result cannot be kept: %v", err)
		return c, nil
	}
	a.talk("kept in %s; it is stored with every replay from now on", path)
	return c, nil
}

// selfCheckFile is in the person's cache, which several machines may share: each has a file of its own.
func selfCheckFile() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	host, err := os.Hostname()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(host))
	return filepath.Join(cache, "reprise", fmt.Sprintf("selfcheck-%x.json", sum[:4])), nil
}

// keep writes the file whole or not at all.
func keep(path string, c *replay.SelfCheck) error {
	text, err := json.MarshalIndent(c, "", " ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	tmp := fmt.Sprintf("%s.%d", path, os.Getpid())
	if err := os.WriteFile(tmp, append(text, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}

// loadSelfCheck is what was kept on this machine; nil without.
func (a *app) loadSelfCheck() *replay.SelfCheck {
	path, err := selfCheckFile()
	if err != nil {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	var c replay.SelfCheck
	if err := json.Unmarshal(text, &c); err != nil || c.AtUS == 0 {
		a.talk("warning: %s cannot be read: run reprise selfcheck again", path)
		return nil
	}
	return &c
}

// micro writes microseconds as people read them.
func micro(us float64) string {
	if us >= 1000 {
		return fmt.Sprintf("%.1f ms", us/1000)
	}
	return fmt.Sprintf("%.0f us", us)
}

func spreadText(s replay.Spread) string {
	return fmt.Sprintf("%s / %s / %s", micro(s.P50), micro(s.P99), micro(s.Max))
}

func (a *app) printSelfCheck(c *replay.SelfCheck) error {
	fmt.Fprintf(a.out, "this client on this machine: %s, %d processors shared with the server it was measured against%s, %s\n", c.System, c.CPUs, loadText(c), dayOf(c.AtUS))
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\tp50 / p99 / longest\tfloor\n")
	fmt.Fprintf(w, "send error, %d requests/s\t%s\ta sleeping thread wakes %s late (p99)\n", c.Send.PerSecond, spreadText(c.Send.Error), micro(c.Send.HiccupP99))
	fmt.Fprintf(w, "  until the server had it\t%s\twith the way there and the server's own wake-up\n", spreadText(c.Send.Server))
	floor := fmt.Sprintf("the server's write calls take %s (p99)", micro(c.Stamps.WriteP99))
	if k := c.Stamps.Kernel; k != nil {
		fmt.Fprintf(w, "chunk time error, kernel stamps\t%s\t%s\n", spreadText(*k), floor)
	} else {
		fmt.Fprintf(w, "chunk time error, kernel stamps\tnot available here\t\n")
	}
	fmt.Fprintf(w, "chunk time error, clock\t%s\tthe server wrote %s late (p99); a thread woke %s late\n", spreadText(c.Stamps.Clock), micro(c.Stamps.ServerLate), micro(c.Stamps.HiccupP99))
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(a.out, "chunk times: %d streams of %.0f chunks/s, half with each kind of stamp; %.2f %% of chunks shared a read with an earlier one\n", c.Stamps.Streams, c.Stamps.PerSecond, 100*c.Stamps.SharedShare)
	if err := a.printLadder("streams at once, 50 chunks/s each", &c.Streams); err != nil {
		return err
	}
	return a.printLadder("requests a second", &c.Requests)
}

func (a *app) printLadder(what string, l *replay.Ladder) error {
	limit := "nothing broke up to there"
	if l.Limit != "" {
		limit = "above that: " + l.Limit
	}
	fmt.Fprintf(a.out, "\n%s: %s carried; %s\n", what, count(int64(l.Carried)), limit)
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "  load\tsend p99\tchunk time p99\tserver late p99\thiccup p99\tprocessors\t\n")
	for _, r := range l.Rungs {
		stamp, cpu := "unknown", "unknown"
		if r.StampP99 != nil {
			stamp = micro(*r.StampP99)
		}
		if r.CPU != nil {
			cpu = fmt.Sprintf("%.0f %%", 100**r.CPU)
		}
		within := "within"
		if r.Broke != "" {
			within = "broke"
		}
		fmt.Fprintf(w, "  %d\t%s\t%s\t%s\t%s\t%s\t%s\t\n", r.Load, micro(r.LagP99), stamp, micro(r.ServerLate), micro(r.HiccupP99), cpu, within)
	}
	return w.Flush()
}

func loadText(c *replay.SelfCheck) string {
	if c.Load == nil || c.LoadEnd == nil {
		return ""
	}
	return fmt.Sprintf(", load %.1f before and %.1f after", *c.Load, *c.LoadEnd)
}

func dayOf(us int64) string { return time.UnixMicro(us).UTC().Format("2006-01-02 15:04 UTC") }

// selfCheckLine is the one line that every replay report has.
func selfCheckLine(c *replay.SelfCheck) string {
	if c == nil {
		return "client: not measured on this machine (reprise selfcheck)"
	}
	stamp, kind := c.Stamps.Clock.P99, "by the clock"
	if c.Stamps.Kernel != nil {
		stamp, kind = c.Stamps.Kernel.P99, "by the kernel"
	}
	return fmt.Sprintf("client: self-check of %s: sends within %s, chunk times within %s %s (p99); carried %d streams, %d requests/s", dayOf(c.AtUS),
		micro(c.Send.Error.P99), micro(stamp), kind, c.Streams.Carried, c.Requests.Carried)
}
