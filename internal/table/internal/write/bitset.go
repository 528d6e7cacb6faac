package write

import "math/bits"

// Bitset is a set of numbers; nil is empty.
type Bitset []uint64

// NewBitset returns an empty set of numbers below n.
func NewBitset(n uint32) Bitset { return make(Bitset, (uint64(n)+63)/64) }

// Has reports whether i is in the set.
func (b Bitset) Has(i uint32) bool { return b != nil && b[i>>6]>>(i&63)&1 != 0 }

// Add adds i.
func (b Bitset) Add(i uint32) { b[i>>6] |= 1 << (i & 63) }

// Count returns how many members are in [first, first+n).
func (b Bitset) Count(first, n uint32) (count uint32) {
	for i := first; i < first+n; {
		w := b[i>>6] >> (i & 63)
		step := min(64-i&63, first+n-i)
		if step < 64 {
			w &= 1<<step - 1
		}
		count += uint32(bits.OnesCount64(w))
		i += step
	}
	return count
}
