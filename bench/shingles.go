package main

import (
	"cmp"
	"slices"

	"github.com/simdb/simdb/internal/token"
)

// shingleSets are the distinct shingle hashes of texts, each ascending: what all contestants of
// `jaccard` work on.
type shingleSets struct {
	shingler *token.Shingler
	buffer   []uint64
}

func newShingleSets() *shingleSets { return &shingleSets{shingler: token.NewShingler(3, 0)} }

// Shingles takes a piece of the shingles of a text: shingleSets is a token.Sink.
func (s *shingleSets) Shingles(hashes []uint64) { s.buffer = append(s.buffer, hashes...) }

func (s *shingleSets) of(text string) []uint64 {
	s.buffer = s.buffer[:0]
	s.shingler.Text(text, s)
	slices.Sort(s.buffer)
	return slices.Clone(slices.Compact(s.buffer))
}

// inverted finds by definition which sets have at least a given Jaccard similarity to another.
type inverted struct {
	sizes  []int
	hashes []uint64 // distinct, ascending
	start  []int    // of the sets of each
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

// atLeast returns the sets of similarity t and more to q, ascending.
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
