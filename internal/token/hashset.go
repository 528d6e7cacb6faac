package token

import (
	"math/bits"
	"math/rand/v2"
)

// Limits of the table of a HashSet.
const (
	minSlots  = 1 << 8
	keepSlots = 1 << 20 // larger tables are freed when the set is emptied
)

// spread maps hashes to slots. It is odd and random in each process, so that nobody can prepare a
// text whose shingles all collide. Results do not depend on it.
var spread = rand.Uint64() | 1

// HashSet finds the first occurrences in a stream of hashes. It is an exact set of 64-bit integers,
// optimised for a few hundred to millions of elements and for being emptied and refilled for each
// document. The zero HashSet is empty and ready to use.
//
// It is an open-addressing table with linear probing. If the number of hashes is known in advance,
// a sixteenth to an eighth of the slots are used, so that nearly every look-up ends at its first
// slot and branches are predicted well.
type HashSet struct {
	slots []uint64 // 0 is a free slot; the length is a power of two
	spare []uint64 // the table before the last growth, for reuse
	shift int      // 64 - log2(len(slots))
	used  int      // used slots, at most half
	zero  bool     // the hash 0 is in the set
}

// Reset empties the set and prepares it for about n hashes.
func (s *HashSet) Reset(n int) {
	size := minSlots
	for size < keepSlots && size < 8*n {
		size *= 2
	}
	if cap(s.spare) > cap(s.slots) {
		s.slots, s.spare = s.spare, s.slots
	}
	if cap(s.slots) > keepSlots {
		s.slots = nil
	}
	if cap(s.spare) > keepSlots {
		s.spare = nil
	}
	s.slots = table(s.slots, size)
	s.used, s.zero = 0, false
	s.shift = 64 - bits.TrailingZeros(uint(size))
}

// table returns an empty table of this size, which reuses old if that is large enough.
func table(old []uint64, size int) []uint64 {
	if cap(old) < size {
		return make([]uint64, size)
	}
	clear(old[:size])
	return old[:size]
}

// Len returns the number of hashes in the set.
func (s *HashSet) Len() int {
	if s.zero {
		return s.used + 1
	}
	return s.used
}

// Has reports whether a hash is in the set.
func (s *HashSet) Has(h uint64) bool {
	if h == 0 || s.used == 0 {
		return h == 0 && s.zero
	}
	i := h * spread >> (s.shift & 63)
	for s.slots[i] != h && s.slots[i] != 0 {
		i = (i + 1) & uint64(len(s.slots)-1)
	}
	return s.slots[i] == h
}

// AppendNew adds hashes to the set, and appends those that were not in it to dst, in order.
func (s *HashSet) AppendNew(dst, hashes []uint64) []uint64 {
	for len(hashes) > 0 {
		if s.used >= len(s.slots)/2 {
			s.grow()
		}
		n := min(len(hashes), len(s.slots)/2-s.used)
		dst = s.appendNew(dst, hashes[:n])
		hashes = hashes[n:]
	}
	return dst
}

// appendNew is AppendNew without growing the table.
func (s *HashSet) appendNew(dst, hashes []uint64) []uint64 {
	slots, shift := s.slots, s.shift&63
	before := len(dst)
	zeros := 0
	for _, h := range hashes {
		i := h * spread >> shift
		for slots[i] != h && slots[i] != 0 {
			i = (i + 1) & uint64(len(slots)-1)
		}
		if slots[i] == h {
			if h != 0 || s.zero {
				continue
			}
			s.zero = true
			zeros = 1
		}
		slots[i] = h
		dst = append(dst, h)
	}
	s.used += len(dst) - before - zeros
	return dst
}

// grow doubles the table, or creates the first one.
func (s *HashSet) grow() {
	old := s.slots
	s.slots, s.spare = table(s.spare, max(minSlots, 2*len(old))), old
	s.shift = 64 - bits.TrailingZeros(uint(len(s.slots)))
	for _, h := range old {
		if h == 0 {
			continue
		}
		i := h * spread >> s.shift
		for s.slots[i] != 0 {
			i = (i + 1) & uint64(len(s.slots)-1)
		}
		s.slots[i] = h
	}
}
