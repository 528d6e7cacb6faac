package sketchidx

import (
	"math/bits"
	"math/rand/v2"
	"slices"
)

// docSet is a set of document numbers that preserves the order of insertion: a hash table with
// linear probing, at most half full. Its zero value is ready to use.
type docSet struct {
	docs  []uint32 // members
	slots []uint32 // document number + 1; 0 if free
	shift int
	seed  uint64 // odd and random, so that no file can make many of its documents collide
}

// reset empties the set and allocates space for n members.
func (s *docSet) reset(n int) {
	s.docs = s.docs[:0]
	if s.seed == 0 {
		s.seed = rand.Uint64() | 1
	}
	size := bits.Len(uint(2*n)) + 1
	s.shift = 64 - size
	if cap(s.slots) < 1<<size {
		s.slots = make([]uint32, 1<<size)
		return
	}
	s.slots = s.slots[:1<<size]
	clear(s.slots)
}

// reserve ensures that n more members can be added without reallocation.
func (s *docSet) reserve(n int) {
	if 2*(len(s.docs)+n) < len(s.slots) {
		return
	}
	members := slices.Clone(s.docs)
	s.reset(2 * (len(members) + n))
	for _, doc := range members {
		s.add(doc)
	}
}

// add adds doc and reports whether it was not yet in the set.
func (s *docSet) add(doc uint32) bool {
	mask := len(s.slots) - 1
	i := int(uint64(doc) * s.seed >> (s.shift & 63)) // multiply-shift hashing
	for s.slots[i&mask] != 0 {
		if s.slots[i&mask] == doc+1 {
			return false
		}
		i++
	}
	s.slots[i&mask] = doc + 1
	s.docs = append(s.docs, doc)
	return true
}
