package search

import (
	"math/bits"

	"github.com/simdb/simdb/internal/features"
)

// queryMasks say for elements of sets which of at most 64 queries have them, as bits.
type queryMasks map[uint64]uint64

// sharedCounts count the elements that one set after the other has in common with those of many
// queries. Sets that differ little from one before them, the model, have its counts except for the
// elements that are in one of the two only, of which queries have few. Pages of a template, which
// resemble each other more than any of the queries, are counted in the time of one comparison.
type sharedCounts struct {
	of       queryMasks
	model    features.Hashes
	masks    []uint64 // of the model's elements
	ofModel  [64]int32
	now      [64]int32 // elements of the set that each query has
	elements int       // of the set
}

// A set follows its model where at most one of modelShare elements differs.
const modelShare = 4

func (c *sharedCounts) count(set features.Hashes) {
	c.elements = len(set)
	if len(c.model) == 0 || !c.follow(set) {
		c.remodel(set)
	}
}

// follow counts the elements of a set that differs little from the model, and returns false for
// another one.
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
			c.add(c.of[set[k]], 1)
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
		mask := c.of[e]
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

// jaccard returns the similarity of the set that was counted and that of a query.
func (c *sharedCounts) jaccard(query int, of features.Hashes) float64 {
	n := int(c.now[query])
	if n == 0 {
		return 0
	}
	return float64(n) / float64(len(of)+c.elements-n)
}
