package main

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"reprise/replay"
)

// bodyFlags change members of every body that is sent, recorded or made up.
type bodyFlags struct {
	temperature, requestSeed, extra, limitField string
}

func (b *bodyFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&b.temperature, "temperature", "", "temperature of every request (default: as recorded)")
	fs.StringVar(&b.requestSeed, "request-seed", "", "seed of every request, for targets that sample by one")
	fs.StringVar(&b.limitField, "max-tokens-field", "", "how chat and completions name the length limit (default: max_tokens)")
	fs.StringVar(&b.extra, "extra-body", "", `JSON object whose members replace those of every request; null takes one out: '{"top_p":0.9,"user":null}'`)
}

// fields are the members to set, those of --extra-body last.
func (b *bodyFlags) fields() (list []replay.Field, err error) {
	if b.temperature != "" {
		if t, err := strconv.ParseFloat(b.temperature, 64); err != nil || t < 0 || t > 10 || !json.Valid([]byte(b.temperature)) {
			return nil, usage(fmt.Errorf("--temperature: expected a number such as 0.7, got %q", b.temperature))
		}
		list = append(list, replay.Field{Key: "temperature", Value: json.RawMessage(b.temperature)})
	}
	if b.requestSeed != "" {
		if _, err := strconv.ParseInt(b.requestSeed, 10, 64); err != nil || !json.Valid([]byte(b.requestSeed)) {
			return nil, usage(fmt.Errorf("--request-seed: expected a whole number, got %q", b.requestSeed))
		}
		list = append(list, replay.Field{Key: "seed", Value: json.RawMessage(b.requestSeed)})
	}
	if b.extra == "" {
		return list, nil
	}
	more, err := replay.ParseFields([]byte(b.extra))
	if err != nil {
		return nil, usage(fmt.Errorf("--extra-body: %w, got %q", err, b.extra))
	}
	return append(list, more...), nil
}
