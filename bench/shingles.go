package main

import (
	"cmp"
	"slices"

	"github.com/simdb/simdb/internal/token"
)

// shingleSets computes the distinct shingle hashes of texts in ascending order, the input of all
// contestants of `jaccard`.
type shingleSets struct {
	shingler *token.Shingler
	buffer   []uint64
}

func newShingleSets() *shingleSets { return &shingleSets{shingler: token.NewShingler(3, 0)} }

// Shingles collects some shingles of a text: shingleSets is a token.Sink.
func (s *shingleSets) Shingles(hashes []uint64) { s.buffer = append(s.buffer, hashes...) }

func (s *shingleSets) of(text string) []uint64 {
	s.buffer = s.buffer[:0]
	s.shingler.Text(text, s)
	slices.Sort(s.buffer)
	return slices.Clone(slices.Compact(s.buffer))
}

// inverted finds, by definition, the sets that have at least a given Jaccard similarity to
// another.
type inverted struct {
	sizes  []int
	hashes []uint64 // distinct, ascending
	start  []int    // by hash: start of its sets
	sets   []uint32
	common []int // scratch: shared hashes by set
}

func newInverted(sets [][]uint64) *inverted {
	type posting struct {
		hash uint64
		set  uint32
	}
	var all []posting
	x := &inverted{common: make([]int, len(sets))}
	for i, s := range sets {
		x.sizes = append(x.sizes, len(s))
		for _, h := range s {
			all = append(all, posting{h, uint32(i)})
		}
	}
	slices.SortFunc(all, func(a, b posting) int { return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.set, b.set)) })
	for i, p := range all {
		if i == 0 || p.hash != all[i-1].hash {
			x.hashes, x.start = append(x.hashes, p.hash), append(x.start, i)
		}
		x.sets = append(x.sets, p.set)
	}
	x.start = append(x.start, len(all))
	return x
}

// atLeast returns the sets with a similarity of at least t to q, in ascending order.
func (x *inverted) atLeast(q []uint64, t float64) (sets []uint32) {
	clear(x.common)
	for _, h := range q {
		if i, ok := slices.BinarySearch(x.hashes, h); ok {
			for _, s := range x.sets[x.start[i]:x.start[i+1]] {
				x.common[s]++
			}
		}
	}
	for s, n := range x.common {
		if n > 0 && float64(n) >= t*float64(len(q)+x.sizes[s]-n) {
			sets = append(sets, uint32(s))
		}
	}
	return sets
}
