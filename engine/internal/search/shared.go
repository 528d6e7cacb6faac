package search

import (
	"math/bits"

	"github.com/simdb/simdb/internal/features"
)

// queryMasks map an element to a bit mask of the queries, at most 64, whose sets have it.
type queryMasks map[uint64]uint64

// sharedCounts count, for each set in turn, the elements that it shares with the set of each query.
// If a set differs little from an earlier one, the model, its counts are those of the model,
// corrected for the elements that are in only one of the two; queries have few of these. Counting
// pages of a template, which resemble each other more than any query, thus costs about as much as
// one comparison each.
type sharedCounts struct {
	queries  queryMasks
	model    features.Hashes
	masks    []uint64 // masks of the model's elements
	ofModel  [64]int32
	now      [64]int32 // elements that the current set shares with each query
	elements int       // size of the current set
}

// A set uses its model's counts if at most one in modelShare elements differs.
const modelShare = 4

func (c *sharedCounts) count(set features.Hashes) {
	c.elements = len(set)
	if len(c.model) == 0 || !c.follow(set) {
		c.remodel(set)
	}
}

// follow counts the elements of a set by its difference from the model. It returns false if they
// differ too much.
func (c *sharedCounts) follow(set features.Hashes) bool {
	c.now = c.ofModel
	most := len(c.model) / modelShare
	i, k := 0, 0
	for most >= 0 && (i < len(c.model) || k < len(set)) {
		switch {
		case k == len(set) || i < len(c.model) && c.model[i] < set[k]:
			c.add(c.masks[i], -1)
			i++
			most--
		case i == len(c.model) || set[k] < c.model[i]:
			c.add(c.queries[set[k]], 1)
			k++
			most--
		default:
			i++
			k++
		}
	}
	return most >= 0
}

func (c *sharedCounts) remodel(set features.Hashes) {
	c.model = append(c.model[:0], set...)
	c.masks, c.now = c.masks[:0], [64]int32{}
	for _, e := range set {
		mask := c.queries[e]
		c.masks = append(c.masks, mask)
		c.add(mask, 1)
	}
	c.ofModel = c.now
}

func (c *sharedCounts) add(queries uint64, n int32) {
	for ; queries != 0; queries &= queries - 1 {
		c.now[bits.TrailingZeros64(queries)] += n
	}
}

// jaccard returns the similarity of the counted set and the set of a query.
func (c *sharedCounts) jaccard(query int, set features.Hashes) float64 {
	n := int(c.now[query])
	if n == 0 {
		return 0
	}
	return float64(n) / float64(len(set)+c.elements-n)
}
