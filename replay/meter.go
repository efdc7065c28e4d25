package replay

import (
	"hash/maphash"
	"math"
)

// shareMeter measures, on the very text that is sent, how much of it an endless prefix cache would hold: the check that
// prompts share as recorded (metrics.md part 6). It knows of a recorded prompt only where its blocks end.
type shareMeter struct {
	cal  Calibration
	seed maphash.Seed
	seen map[uint64]bool
}

func newShareMeter(cal Calibration) *shareMeter {
	if cal.TokensPerWord <= 0 {
		cal.TokensPerWord = 1
	}
	return &shareMeter{cal: cal, seed: maphash.MakeSeed(), seen: map[uint64]bool{}}
}

// add returns the words of a prompt, with what the target's template adds to it, and how many of them stood in an earlier prompt as a
// leading block; 0, 0 without text. The log counts its template, too.
func (m *shareMeter) add(it *Item, text prompt) (words, hit int) {
	all := text.user
	if len(text.system) > 0 {
		all = append(append(append([]byte(nil), text.system...), ' '), text.user...)
	}
	if len(all) == 0 {
		return 0, 0
	}
	ends := m.ends(it)
	var h maphash.Hash
	h.SetSeed(m.seed)
	h.WriteString(it.Endpoint)
	leading, start := true, 0
	for i := 0; i <= len(all); i++ {
		if i < len(all) && all[i] != ' ' {
			continue
		}
		if words++; len(ends) == 0 || words != ends[0] {
			continue
		}
		ends = ends[1:]
		h.Write(all[start:i])
		start = i
		key := h.Sum64()
		if leading = leading && m.seen[key] && i < len(all); leading {
			hit = words
		}
		m.seen[key] = true
	}
	return words + m.cal.at(int64(math.Round(m.cal.intercept(it.Endpoint, len(text.system) > 0)))), hit
}

// ends are the words at which full blocks (or the system prompt) end.
func (m *shareMeter) ends(it *Item) (ends []int) {
	tokens := int64(0)
	for i, n := range it.PrefixTokens {
		if tokens += int64(n); i == len(it.PrefixTokens)-1 && (it.BlockTokens == nil || n != *it.BlockTokens) {
			break
		}
		if end := m.cal.at(tokens); len(ends) == 0 || end > ends[len(ends)-1] {
			ends = append(ends, end)
		}
	}
	if len(it.PrefixIDs) == 0 && it.SystemTokens > 0 {
		ends = append(ends, m.cal.at(it.SystemTokens))
	}
	return ends
}
