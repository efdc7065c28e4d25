package stats

import (
	"cmp"
	"maps"
	"slices"
)

// Stack keeps keys in the order of their last use and tells how deep one lies: a cache of C entries that drops the least
// recently used holds a key if and only if its depth is at most C, whatever C is (Mattson et al. 1970). Both methods take
// O(log n) by a Fenwick tree over the times of last use. The zero value is an empty stack.
type Stack struct {
	slots map[int64]int // key: its place in time, from 1
	last  int           // newest place
	sums  []int         // Fenwick tree: how many keys were last used at each place
}

// Depth is the number of distinct keys used since key was, itself counted: 1 is the newest. 0: never used.
func (s *Stack) Depth(key int64) int {
	at, ok := s.slots[key]
	if !ok {
		return 0
	}
	older := 0
	for i := at - 1; i > 0; i -= i & -i {
		older += s.sums[i]
	}
	return len(s.slots) - older
}

// Touch uses a key.
func (s *Stack) Touch(key int64) {
	if s.last+1 >= len(s.sums) {
		s.compact()
	}
	if at, ok := s.slots[key]; ok {
		s.add(at, -1)
	}
	s.last++
	s.slots[key] = s.last
	s.add(s.last, 1)
}

// Len is the number of distinct keys.
func (s *Stack) Len() int { return len(s.slots) }

func (s *Stack) add(at, n int) {
	for i := at; i < len(s.sums); i += i & -i {
		s.sums[i] += n
	}
}

// compact renumbers the keys from 1 and leaves room for as many touches again.
func (s *Stack) compact() {
	keys := slices.SortedFunc(maps.Keys(s.slots), func(a, b int64) int { return cmp.Compare(s.slots[a], s.slots[b]) })
	s.slots, s.last, s.sums = make(map[int64]int, len(keys)), 0, make([]int, 2*len(keys)+1024)
	for _, k := range keys {
		s.last++
		s.slots[k] = s.last
		s.add(s.last, 1)
	}
}
