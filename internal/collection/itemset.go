package collection

import "math/bits"

// An ItemSet is a set of items that numbers its members in order: a bitmap with counts.
type ItemSet []struct {
	in     uint64 // a bit for each of 64 items
	before uint32 // members in earlier words; set by Count
}

// NewItemSet returns an empty set of the items below n.
func NewItemSet(n int) ItemSet { return make(ItemSet, (n+63)/64) }

// Add adds an item.
func (s ItemSet) Add(i uint32) { s[i/64].in |= 1 << (i % 64) }

// Count returns the number of members, and prepares Number.
func (s ItemSet) Count() (n int) {
	for w := range s {
		s[w].before = uint32(n)
		n += bits.OnesCount64(s[w].in)
	}
	return n
}

// Number returns the number of members below member i.
func (s ItemSet) Number(i uint32) uint32 {
	w := &s[i/64]
	return w.before + uint32(bits.OnesCount64(w.in&(1<<(i%64)-1)))
}

// All calls fn for every member, in order, until it returns an error.
func (s ItemSet) All(fn func(i uint32) error) error {
	for w := range s {
		for in := s[w].in; in != 0; in &= in - 1 {
			if err := fn(uint32(64*w + bits.TrailingZeros64(in))); err != nil {
				return err
			}
		}
	}
	return nil
}
