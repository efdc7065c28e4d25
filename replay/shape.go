package replay

// fixedBlocks cuts n tokens into blocks of size tokens; nil unless they are count blocks.
func fixedBlocks(n int64, size int32, count int) []int32 {
	if size <= 0 || count == 0 || (n+int64(size)-1)/int64(size) != int64(count) {
		return nil
	}
	blocks := make([]int32, count)
	for i := range blocks {
		blocks[i] = int32(min(n, int64(size)))
		n -= int64(size)
	}
	return blocks
}

// shapePrompts settles the shape of each prompt, in plan order: lengths of blocks, of the system prompt, and what an
// endless prefix cache would hold of each.
//
// Where blocks are equal shares of the text, a block's length in tokens is only known on average, and differs a little
// from prompt to prompt. Prompts share text only if a block has one length wherever it stands, so the first prompt that
// has it decides. The same holds for system prompts, whose length is an estimate from shares of text.
func shapePrompts(items []Item) {
	blocks := map[int64]int32{}
	systems := map[string]int64{}
	cache := newIdealCache()
	for i := range items {
		it := &items[i]
		if len(it.PrefixIDs) > 0 && it.PrefixTokens == nil {
			it.PrefixTokens = shareBlocks(it, blocks)
		}
		if it.SystemHash != "" {
			if systems[it.SystemHash] == 0 {
				systems[it.SystemHash] = it.SystemTokens
			}
			it.SystemTokens = min(systems[it.SystemHash], it.InputTokens-1)
		}
		it.IdealHit = cache.hit(it)
	}
}

// shareBlocks gives each block its tokens: the length decided before, where there is one, and equal shares of the rest.
func shareBlocks(it *Item, decided map[int64]int32) []int32 {
	tokens := make([]int32, len(it.PrefixIDs))
	left, unknown := it.InputTokens, int64(0)
	for _, id := range it.PrefixIDs {
		if n, ok := decided[id]; ok {
			left -= int64(n)
		} else {
			unknown++
		}
	}
	left = max(left, unknown)
	rest, k := it.InputTokens, int64(0)
	for i, id := range it.PrefixIDs {
		n, ok := decided[id]
		if !ok {
			n = int32(left*(k+1)/unknown - left*k/unknown)
			k++
			decided[id] = n
		}
		tokens[i] = int32(min(int64(n), rest)) // prompts that do not add up are cut at their recorded length
		rest -= int64(tokens[i])
	}
	tokens[len(tokens)-1] += int32(rest)
	return tokens
}

// idealCache is an endless prefix cache for each model.
type idealCache struct {
	blocks  map[blockKey]bool
	systems map[blockKey]bool
}

type blockKey struct {
	model, text string
	id          int64
}

func newIdealCache() *idealCache { return &idealCache{map[blockKey]bool{}, map[blockKey]bool{}} }

// hit returns how many tokens of the prompt the cache holds, and puts the prompt into it (metrics.md 5.2). Of a prompt
// without block hashes it is the system prompt, when that is known.
func (c *idealCache) hit(it *Item) int64 {
	if len(it.PrefixIDs) > 0 {
		return c.blockHit(it)
	}
	key := blockKey{model: it.Model, text: it.SystemHash}
	known := c.systems[key]
	c.systems[key] = true
	if !known || it.SystemHash == "" {
		return 0
	}
	return it.SystemTokens
}

// blockHit counts the leading full blocks already seen, at most all but the last token. The last block counts only when
// it is full, which is known where all blocks have one size.
func (c *idealCache) blockHit(it *Item) (hit int64) {
	last := len(it.PrefixIDs) - 1
	full := it.BlockTokens != nil && it.PrefixTokens[last] == *it.BlockTokens
	leading := true
	for i, id := range it.PrefixIDs {
		if i == last && !full {
			break
		}
		key := blockKey{model: it.Model, id: id}
		n := int64(it.PrefixTokens[i])
		if leading = leading && c.blocks[key] && hit+n < it.InputTokens; leading {
			hit += n
		}
		c.blocks[key] = true
	}
	return hit
}

// share returns part/whole, nil for 0/0.
func share(part, whole int64) *float64 {
	if whole == 0 {
		return nil
	}
	f := float64(part) / float64(whole)
	return &f
}
