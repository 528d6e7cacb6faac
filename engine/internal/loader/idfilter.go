package loader

import (
	"math/bits"

	"github.com/simdb/simdb/internal/kernel"
)

// An idFilter answers "may this ID be there?" for a set of IDs, by their hashes: never wrongly no.
// It is a blocked Bloom filter (Putze, Sanders and Singler, "Cache-, Hash- and Space-Efficient
// Bloom Filters", WEA 2007): an ID sets six bits of one cache line. With 16 bits an ID about 1 in
// 300 of the IDs that are not there may be; with fewer bits more.
type idFilter struct{ lines [][filterLine]byte }

const (
	filterBitsPerID = 16
	filterProbes    = 6
	filterLine      = 64 // bytes
	filterPosition  = 9  // bits that name a bit of a line
)

// newIDFilter returns an empty filter for n IDs, in at most that many bytes except for one line.
func newIDFilter(n int, most int64) *idFilter {
	size := int64(n) * filterBitsPerID / 8
	return &idFilter{make([][filterLine]byte, min(size, most)/filterLine+1)}
}

// capacity returns for how many IDs the filter is made.
func (f *idFilter) capacity() int { return f.bytes() * 8 / filterBitsPerID }

func (f *idFilter) bytes() int { return len(f.lines) * filterLine }

// line returns the line of a hash, and a hash to choose its bits by, which is another one.
func (f *idFilter) line(hash uint64) (line *[filterLine]byte, choice uint64) {
	i, choice := bits.Mul64(hash, uint64(len(f.lines)))
	return &f.lines[i], choice * 0x9e3779b97f4a7c15 >> (64 - filterPosition*filterProbes)
}

// prefetch requests the cache line that add and has will read.
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
