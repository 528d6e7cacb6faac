// Package idfilter has sets of IDs in a few bits per ID, which answer "no" or "perhaps".
package idfilter

import (
	"math/bits"

	"github.com/simdb/simdb/internal/kernel"
)

// A Filter reports whether a set may contain an ID, by its hash (table.HashID), without false
// negatives. It is a blocked Bloom filter (Putze, Sanders and Singler, "Cache-, Hash- and
// Space-Efficient Bloom Filters", WEA 2007): an ID sets six bits of one cache line. With 16 bits
// per ID the rate of false positives is about 1 in 700, with 10 bits 1 in 100.
type Filter struct{ lines [][line]byte }

const (
	probes   = 6
	line     = 64 // bytes
	position = 9  // bits that number the bits of a line
)

// New returns an empty filter of at most size bytes, rounded up to whole lines.
func New(size int64) *Filter { return &Filter{make([][line]byte, size/line+1)} }

// Bytes returns the memory of the filter.
func (f *Filter) Bytes() int { return len(f.lines) * line }

// line returns the line for a hash, and another hash that chooses the bits. The low 26 bits of a
// HashID are zero, and thus those of rest.
func (f *Filter) line(hash uint64) (l *[line]byte, choice uint64) {
	i, rest := bits.Mul64(hash, uint64(len(f.lines)))
	return &f.lines[i], (rest ^ rest>>32) * 0x9e3779b97f4a7c15 >> (64 - position*probes)
}

// Prefetch requests the cache line that Add and Has will access.
func (f *Filter) Prefetch(hash uint64) {
	l, _ := f.line(hash)
	kernel.Prefetch(l[:1])
}

// Add adds IDs to the set. It must not be called while others use the filter.
func (f *Filter) Add(hashes ...uint64) {
	for _, hash := range hashes {
		l, choice := f.line(hash)
		for range probes {
			l[choice>>3%line] |= 1 << (choice & 7)
			choice >>= position
		}
	}
}

// Has reports whether an ID may be in the set.
func (f *Filter) Has(hash uint64) bool {
	l, choice := f.line(hash)
	for range probes {
		if l[choice>>3%line]>>(choice&7)&1 == 0 {
			return false
		}
		choice >>= position
	}
	return true
}
