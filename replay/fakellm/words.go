package fakellm

import "strings"

// chain counts the words of the texts and hashes each full block of them together with all before it (FNV-1a, 64 bit).
// Words do not join across texts.
func chain(texts []string, blockTokens int) (words int, blocks []uint64) {
	const offset, prime = 14695981039346656037, 1099511628211
	h := uint64(offset)
	for _, text := range texts {
		for word := range strings.FieldsSeq(text) {
			for i := range len(word) {
				h = (h ^ uint64(word[i])) * prime
			}
			h = (h ^ ' ') * prime
			if words++; words%blockTokens == 0 {
				blocks = append(blocks, h)
			}
		}
	}
	return words, blocks
}

// vocabulary is what answers are made of: 64 plain words.
var vocabulary = [64]string{
	"amber", "anchor", "autumn", "basket", "beacon", "branch", "bridge", "candle", "canyon", "cedar", "chapter", "cloud",
	"copper", "coral", "corner", "cotton", "creek", "desert", "engine", "fabric", "falcon", "feather", "field", "forest",
	"garden", "glacier", "granite", "harbor", "harvest", "hollow", "island", "jasmine", "journey", "kettle", "ladder",
	"lantern", "leather", "linen", "marble", "meadow", "mirror", "morning", "mountain", "needle", "orchard", "paper",
	"pebble", "pepper", "pocket", "quartz", "river", "saddle", "shadow", "silver", "spring", "stone", "summer", "thunder",
	"timber", "valley", "velvet", "village", "window", "winter",
}

// word is the i-th output token of an answer with this draw.
func word(draw uint64, i int) string {
	return vocabulary[mix(draw+uint64(i))>>58]
}

// mix scatters the bits of x (the finaliser of SplitMix64), so that near inputs give unrelated outputs.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// unit is a number in (0, 1) from a draw.
func unit(draw uint64) float64 {
	return (float64(mix(draw)>>11) + 0.5) / (1 << 53)
}
