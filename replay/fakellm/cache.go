package fakellm

import "container/list"

// prefixCache keeps hashes of prompt blocks, each the hash of the whole prefix up to its end, so that a block is found
// only behind the same beginning.
type prefixCache struct {
	limit  int // blocks; -1 without limit
	blocks map[uint64]*list.Element
	recent *list.List // of uint64, most recently used in front
}

func newPrefixCache(limit int) *prefixCache {
	return &prefixCache{limit: limit, blocks: map[uint64]*list.Element{}, recent: list.New()}
}

// hit counts the leading blocks that are cached. It does not touch them: store does, when the prompt is computed.
func (c *prefixCache) hit(chain []uint64) int {
	for i, b := range chain {
		if c.blocks[b] == nil {
			return i
		}
	}
	return len(chain)
}

// store makes the chain the most recently used, its first block last: so the tail of a prompt is evicted before its head,
// without which the tail is of no use.
func (c *prefixCache) store(chain []uint64) {
	if c.limit == 0 {
		return
	}
	for i := len(chain) - 1; i >= 0; i-- {
		if at := c.blocks[chain[i]]; at != nil {
			c.recent.MoveToFront(at)
			continue
		}
		c.blocks[chain[i]] = c.recent.PushFront(chain[i])
		if c.limit > 0 && c.recent.Len() > c.limit {
			oldest := c.recent.Back()
			delete(c.blocks, c.recent.Remove(oldest).(uint64))
		}
	}
}
