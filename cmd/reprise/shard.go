package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"reprise/replay"
)

// shardFlags make this program one of several clients that share a plan.
type shardFlags struct {
	shard, startAt, clockServer string
}

func (s *shardFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&s.shard, "shard", "", "I/N: send part I of N (from 0) of the plan, whole sessions; each of N clients writes a folder of its own below -o, and all together are one run")
	fs.StringVar(&s.startAt, "start-at", "", "time at which the plan starts, such as 2026-11-24T14:00:00Z; the same for all clients")
	fs.StringVar(&s.clockServer, "clock-server", "", "with --shard: NTP server that says how far this clock is off (default: what the kernel knows)")
}

// apply cuts the plan and sets what the flags say; out is where this client writes.
func (s *shardFlags) apply(plan *replay.Plan, o *replay.Options, out string) (*replay.Plan, string, error) {
	us, err := parseTime(s.startAt)
	if err != nil {
		return nil, "", usage(fmt.Errorf("--start-at: %w", err))
	}
	if us != nil {
		o.StartAt = time.UnixMicro(*us)
	}
	if o.ClockServer = s.clockServer; s.shard == "" {
		if s.clockServer != "" {
			return nil, "", usage(errors.New("--clock-server: expected with --shard"))
		}
		return plan, out, nil
	}
	i, n, err := s.parse()
	if err != nil {
		return nil, "", usage(err)
	}
	if n > 1 && us == nil {
		return nil, "", usage(errors.New("--shard: expected --start-at TIME, too: the clients have to begin as one"))
	}
	if plan, err = plan.Shard(i, n); err != nil {
		return nil, "", err
	}
	if out != "" && hasDays(out) {
		return nil, "", hinted(fmt.Errorf("%s: there is a run already", out), "choose another folder, the same for all shards")
	}
	return plan, filepath.Join(out, fmt.Sprintf("shard-%05d-of-%05d", i, n)), nil
}

func (s *shardFlags) parse() (i, n int, err error) {
	before, after, ok := strings.Cut(s.shard, "/")
	i, err1 := strconv.Atoi(before)
	n, err2 := strconv.Atoi(after)
	if !ok || errors.Join(err1, err2) != nil || i < 0 || i >= n {
		return 0, 0, fmt.Errorf("--shard: expected I/N with I from 0 to N-1, got %q", s.shard)
	}
	return i, n, nil
}
