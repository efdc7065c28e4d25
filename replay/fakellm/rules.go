package fakellm

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
)

// Rule gives a Behaviour to the calls that it names. Every condition that is set must hold.
type Rule struct {
	ID      string  // of the call; a * at the end stands for any rest. "": any
	Ordinal int     // of the call. 0: any
	Share   float64 // of the calls that pass the other conditions, drawn by Config.Seed. 0: all
	Do      Behaviour
}

// Rules is a programme of faults; Rules.For is a Config.Behave.
type Rules []Rule

// For is the Behaviour of the first rule that applies, or the plain one.
func (rs Rules) For(c Call) Behaviour {
	for i, r := range rs {
		if r.names(c) && (r.Share == 0 || unit(c.Draw^mix(uint64(i))) < r.Share) {
			return r.Do
		}
	}
	return Behaviour{}
}

func (r Rule) names(c Call) bool {
	if r.Ordinal != 0 && r.Ordinal != c.Ordinal {
		return false
	}
	if start, rest := strings.CutSuffix(r.ID, "*"); rest {
		return strings.HasPrefix(c.ID, start)
	}
	return r.ID == "" || r.ID == c.ID
}

// ruleText is a rule in JSON: names in snake case, times as texts like "250ms".
type ruleText struct {
	ID      string  `json:"id"`
	Ordinal int     `json:"ordinal"`
	Share   float64 `json:"share"`
	Do      struct {
		Behaviour
		RetryAfter duration `json:"retry_after"`
		HoldFor    duration `json:"hold_for"`
		KeepAlive  duration `json:"keep_alive"`
	} `json:"do"`
}

type duration time.Duration

// UnmarshalText reads Go's notation of durations.
func (d *duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	*d = duration(v)
	return err
}

// ParseRules reads a JSON list of rules, for example
//
//	[{"id": "s1", "do": {"end": "cut", "after": 6}},
//	 {"share": 0.02, "do": {"status": 429, "retry_after": "1s"}}]
//
// The fields of "do" are those of Behaviour in snake case. Unknown fields and values without meaning are errors.
func ParseRules(r io.Reader) (Rules, error) {
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	var texts []ruleText
	if err := d.Decode(&texts); err != nil {
		return nil, fmt.Errorf("rules: %w", err)
	}
	var rules Rules
	for i, t := range texts {
		do := t.Do.Behaviour
		do.RetryAfter, do.HoldFor = time.Duration(t.Do.RetryAfter), time.Duration(t.Do.HoldFor)
		do.KeepAlive = time.Duration(t.Do.KeepAlive)
		if !(t.Share >= 0 && t.Share <= 1) || t.Ordinal < 0 {
			return nil, fmt.Errorf("rules[%d]: want a share of 0 to 1 and an ordinal of 0 or more", i)
		}
		if err := do.check(); err != nil {
			return nil, fmt.Errorf("rules[%d]: %w", i, err)
		}
		rules = append(rules, Rule{ID: t.ID, Ordinal: t.Ordinal, Share: t.Share, Do: do})
	}
	return rules, nil
}
