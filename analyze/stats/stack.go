package stats

// Stack keeps keys in the order of their last use and tells how deep one lies: a cache of C entries that drops the least
// recently used holds a key if and only if its depth is at most C, whatever C is (Mattson et al. 1970). Both methods take
// O(log n) by a Fenwick tree over the times of last use. The zero value is an empty stack.
type Stack struct {
	slots map[int64]int // key: its place in time, from 1
	used  []int64       // the key used at each place, from 1; it may have been used again since
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
	if len(s.used) >= len(s.sums) {
		s.compact()
	}
	if at, ok := s.slots[key]; ok {
		s.add(at, -1)
	}
	s.push(key)
}

func (s *Stack) push(key int64) {
	s.slots[key] = len(s.used)
	s.add(len(s.used), 1)
	s.used = append(s.used, key)
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
	old, slots := s.used, s.slots
	s.slots, s.used, s.sums = make(map[int64]int, len(slots)), []int64{0}, make([]int, 2*len(slots)+1024)
	for at, key := range old {
		if at > 0 && slots[key] == at {
			s.push(key)
		}
	}
}
