package stats

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestStack sets the depth against a list that is searched from its newest end.
func TestStack(t *testing.T) {
	for seed := range uint64(4) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var s Stack
		var list []int64 // newest first
		for range 6000 {
			key := rng.Int64N(700) - 350
			if got, want := s.Depth(key), slices.Index(list, key)+1; got != want {
				t.Fatalf("seed %d: depth %d, want %d", seed, got, want)
			}
			s.Touch(key)
			list = slices.Insert(slices.DeleteFunc(list, func(k int64) bool { return k == key }), 0, key)
		}
		if s.Len() != len(list) {
			t.Errorf("%d keys, want %d", s.Len(), len(list))
		}
	}
}
