package keyrun

import "math/rand/v2"

// SetHash is a keyed hash whose sum over a set of numbers identifies the set, in any order. The key
// is random, so nobody can make a file with a different set that has the same sum.
type SetHash [2]uint64

// NewSetHash returns a hash with a random key.
func NewSetHash() SetHash { return SetHash{rand.Uint64(), rand.Uint64()} }

// Of returns the hash of one member: SplitMix64's finalizer (Steele, Lea, Flood, OOPSLA 2014),
// keyed twice.
func (h SetHash) Of(x uint64) uint64 {
	x ^= h[0]
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	x = (x ^ x>>31 ^ h[1]) * 0xbf58476d1ce4e5b9
	return x ^ x>>32
}

// OfPair returns the hash of a pair.
func (h SetHash) OfPair(x uint64, doc uint32) uint64 { return h.Of(x + h.Of(uint64(doc))) }
