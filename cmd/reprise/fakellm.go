package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"

	"reprise/replay/fakellm"
)

func (a *app) fakellmCommand() *cobra.Command {
	var c fakellm.Config
	var addr, truth, rules string
	cmd := &cobra.Command{
		Use:   "fakellm",
		Short: "an OpenAI-compatible server that models an engine, with known timing and its own truth",
		Example: `  reprise fakellm --addr 127.0.0.1:8000 --slots 4 --decode 5ms --prefill-token 500us          # whole prompts block all streams
  reprise fakellm --addr 127.0.0.1:8001 --slots 4 --decode 5ms --prefill-token 500us --prefill-chunk 64
  reprise fakellm --truth truth.jsonl --rules rules.json                                      # programmed errors and pauses`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if rules != "" {
				f, err := os.Open(rules)
				if err != nil {
					return fmt.Errorf("opening rules: %w", err)
				}
				defer f.Close()
				parsed, err := fakellm.ParseRules(f)
				if err != nil {
					return fmt.Errorf("%s: %w", rules, err)
				}
				c.Behave = parsed.For
			}
			if truth != "" {
				f, err := os.Create(truth)
				if err != nil {
					return fmt.Errorf("making truth file: %w", err)
				}
				defer f.Close()
				c.Truth = f
			}
			return a.serve(cmd, c, addr)
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&addr, "addr", "127.0.0.1:0", "address to listen on; port 0 picks a free one")
	fs.StringSliceVar(&c.Models, "model", nil, "names served (default: fake)")
	fs.IntVar(&c.Slots, "slots", 8, "streams in the engine at once; the others wait")
	fs.IntVar(&c.QueueLimit, "queue", 0, "requests that may wait, the next gets 429; 0: no limit, -1: none")
	fs.DurationVar(&c.DecodeBase, "decode", 10*time.Millisecond, "time of a step in which one stream decodes")
	fs.DurationVar(&c.DecodePerRunning, "decode-per-stream", time.Millisecond, "added for each further stream")
	fs.DurationVar(&c.PrefillPerToken, "prefill-token", 200*time.Microsecond, "time of one uncached prompt token")
	fs.DurationVar(&c.PrefillBase, "prefill-base", 0, "added to a step that prefills")
	fs.IntVar(&c.PrefillChunk, "prefill-chunk", 0, "most prompt tokens a step prefills; 0: whole prompts, which hold up all streams")
	fs.IntVar(&c.CacheBlocks, "cache-blocks", -1, "blocks of the prefix cache; 0: no cache, -1: no limit")
	fs.IntVar(&c.BlockTokens, "block-tokens", 16, "tokens in a block")
	fs.Uint64Var(&c.Seed, "seed", 1, "decides words and natural lengths")
	fs.BoolVar(&c.NaturalStop, "natural-stop", false, "answers may end before max_tokens")
	fs.StringVar(&c.APIKey, "api-key", "", "ask for this bearer token")
	fs.StringVar(&truth, "truth", "", "write what happened to this file as JSON lines")
	fs.StringVar(&rules, "rules", "", "file with a JSON list: programmed errors, cuts, silences, holds")
	return cmd
}

// serve listens until the command is interrupted, which is how it is meant to end.
func (a *app) serve(cmd *cobra.Command, c fakellm.Config, addr string) error {
	s, err := fakellm.New(c)
	if err != nil {
		return usage(err)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		s.Close()
		return fmt.Errorf("listening: %w", err)
	}
	fmt.Fprintf(a.out, "http://%s/v1\n", l.Addr())
	a.talk("serving until interrupted (Ctrl-C)")
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	select {
	case err = <-done:
	case <-cmd.Context().Done():
	}
	if closing := s.Close(); err == nil || errors.Is(err, http.ErrServerClosed) {
		err = closing
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return err
}
