package export

// Rare is a prefix that only few requests have: who knows the prompt of one knows how the others begin.
type Rare struct {
	Line     int // of the first request that has it, from 1
	Blocks   int // leading blocks that exactly these requests share
	Requests int // 2 or more
}

// FindRare returns the longest prefixes that at least two and fewer than least requests share, in order of their first
// request, and the number of requests that share no block with any other. ids are the chained block ids of each line;
// nil where they are unknown.
func FindRare(ids [][]int64, least int) (rare []Rare, alone int) {
	counts := map[int64]int{}
	for _, list := range ids {
		for _, id := range list {
			counts[id]++
		}
	}
	told := map[int64]bool{}
	for i, list := range ids {
		at := 0
		for at < len(list) && counts[list[at]] >= least {
			at++
		}
		switch {
		case at == len(list) || told[list[at]]:
		case counts[list[at]] == 1:
			if at == 0 {
				alone++
			}
		default:
			told[list[at]] = true
			n := at + 1
			for n < len(list) && counts[list[n]] == counts[list[at]] {
				n++
			}
			rare = append(rare, Rare{i + 1, n, counts[list[at]]})
		}
	}
	return rare, alone
}
