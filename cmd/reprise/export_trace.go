package main

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"reprise/export"
	"reprise/ingest/trace"
	"reprise/replay"
)

// exportTrace writes one line a call for a load generator.
func (a *app) exportTrace(rows iter.Seq2[trace.Request, error], o replay.PlanOptions, x *exportFlags) error {
	o.Generation = true // no format has a place for embeddings
	plan, err := replay.BuildPlan(rows, o)
	if err != nil {
		return err
	}
	t := export.NewTrace(calls(plan.Items, x.to == "evalscope"), int64(x.block))
	write := t.Mooncake
	switch x.to {
	case "guidellm":
		write = t.GuideLLM
	case "evalscope":
		write = t.Evalscope
	}
	if err := a.writeOut(x.out, write); err != nil {
		return err
	}
	s, say := plan.Summary, a.sayBeside(x.out)
	left := map[string]int64{}
	for reason, n := range s.LeftOut {
		left[strings.ReplaceAll(reason, "_", " ")] = int64(n)
	}
	say("%s in %s, %s input tokens, %s output tokens%s", counted(s.Requests, "request"), time.Duration(s.DurationUS*1000).Round(time.Second),
		count(s.InputTokens), count(s.OutputTokens), withCounts("; left out: ", left))
	if s.PrefixShare != nil {
		shared := fmt.Sprintf("shared prefixes: %.1f %% of input tokens as recorded (blocks of %s)", 100**s.PrefixShare, blockSizes(plan.Items))
		now := float64(t.SharedTokens()) / float64(s.InputTokens)
		if x.to != "evalscope" { // whose prompts keep the blocks of the run
			shared += fmt.Sprintf(", %.1f %% in blocks of %d tokens", 100*now, x.block)
		}
		say("%s", shared)
		if *s.PrefixShare-now > .05 && x.to != "evalscope" {
			a.talk("hint: smaller blocks keep more of it: --block %d", max(1, x.block/4))
		}
	}
	a.warnRare(t.Blocks(), x)
	return nil
}

// calls gives the items of a plan as they leave; text says whether their prompts are made up too.
func calls(items []replay.Item, text bool) []export.Call {
	list, prompt := make([]export.Call, len(items)), replay.Prompts()
	for i := range items {
		it := &items[i]
		list[i] = export.Call{ID: it.RequestID, Model: it.Model, AtUS: it.DueUS, InputTokens: it.InputTokens, OutputTokens: it.OutputTokens,
			Stream: it.Stream, Blocks: it.PrefixIDs, BlockTokens: it.PrefixTokens}
		if text {
			list[i].System, list[i].User = prompt(it)
		}
	}
	return list
}

// blockSizes says how large the blocks of the run are: known, or equal shares of the text.
func blockSizes(items []replay.Item) string {
	sizes, tokens, n := map[int32]bool{}, int64(0), int64(0)
	for i := range items {
		switch it := &items[i]; {
		case it.BlockTokens != nil:
			sizes[*it.BlockTokens] = true
		case len(it.PrefixIDs) > 0:
			tokens, n = tokens+it.InputTokens, n+int64(len(it.PrefixIDs))
		}
	}
	var parts []string
	for _, size := range slices.Sorted(maps.Keys(sizes)) {
		parts = append(parts, fmt.Sprintf("%d", size))
	}
	if n > 0 {
		parts = append(parts, fmt.Sprintf("about %d, shares of the text", tokens/n))
	}
	return strings.Join(parts, " and ")
}
