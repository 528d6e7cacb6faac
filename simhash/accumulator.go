package simhash

import "github.com/simdb/simdb/internal/pospop"

// Accumulator counts the votes of a set of feature hashes for a 64-bit fingerprint, piece by piece. The zero
// Accumulator has no features.
type Accumulator struct {
	n      uint64
	counts [64]uint32
}

// Reset forgets all features.
func (a *Accumulator) Reset() { *a = Accumulator{} }

// Add lets hashes vote. They must not have voted before. There must be fewer than 2^32 in all.
func (a *Accumulator) Add(hashes []uint64) {
	a.n += uint64(len(hashes))
	pospop.Count64(&a.counts, hashes)
}

// Len returns how many hashes have voted.
func (a *Accumulator) Len() int { return int(a.n) }

// Sum64 returns the fingerprint of the features so far.
func (a *Accumulator) Sum64() uint64 { return majority(&a.counts, a.n) }
