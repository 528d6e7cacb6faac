package loader

import (
	"math/bits"

	"github.com/simdb/simdb/internal/kernel"
)

// An idFilter reports whether a set may contain an ID, by its hash, without false negatives. It is
// a blocked Bloom filter (Putze, Sanders and Singler, "Cache-, Hash- and Space-Efficient Bloom
// Filters", WEA 2007): an ID sets six bits of one cache line. With 16 bits per ID the rate of false
// positives is about 1 in 300; with fewer bits it is higher.
type idFilter struct{ lines [][filterLine]byte }

const (
	filterBitsPerID = 16
	filterProbes    = 6
	filterLine      = 64 // bytes
	filterPosition  = 9  // bits that number the bits of a line
)

// newIDFilter returns an empty filter for n IDs, limited to most bytes plus one line.
func newIDFilter(n int, most int64) *idFilter {
	size := int64(n) * filterBitsPerID / 8
	return &idFilter{make([][filterLine]byte, min(size, most)/filterLine+1)}
}

// capacity returns the number of IDs that the filter is sized for.
func (f *idFilter) capacity() int { return f.bytes() * 8 / filterBitsPerID }

func (f *idFilter) bytes() int { return len(f.lines) * filterLine }

// line returns the line for a hash, and another hash that chooses the bits.
func (f *idFilter) line(hash uint64) (line *[filterLine]byte, choice uint64) {
	i, choice := bits.Mul64(hash, uint64(len(f.lines)))
	return &f.lines[i], choice * 0x9e3779b97f4a7c15 >> (64 - filterPosition*filterProbes)
}

// prefetch requests the cache line that add and has will access.
func (f *idFilter) prefetch(hash uint64) {
	line, _ := f.line(hash)
	kernel.Prefetch(line[:1])
}

func (f *idFilter) add(hash uint64) {
	line, choice := f.line(hash)
	for range filterProbes {
		line[choice>>3%filterLine] |= 1 << (choice & 7)
		choice >>= filterPosition
	}
}

func (f *idFilter) has(hash uint64) bool {
	line, choice := f.line(hash)
	for range filterProbes {
		if line[choice>>3%filterLine]>>(choice&7)&1 == 0 {
			return false
		}
		choice >>= filterPosition
	}
	return true
}
