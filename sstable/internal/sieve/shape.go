package sieve

import "math/bits"

// The blocks of the layout 3:1, by the bits of a fingerprint below each, and their sizes.
const (
	blocks = 3

	shift0, shift1 = 42, 21
	size0, size1   = 22, 21
	mask1          = 1<<size1 - 1
)

// A Shape says how large a sieve is.
type Shape struct {
	Low   [blocks]int // the low bits of each block; fewer than it has
	Slots uint32      // of a group
}

// Most is how many fingerprints a sieve can have. Of more, even leads that differ in the lowest
// bits are in pages of their own.
const Most = 1 << 28

// bitsPerKey is the size of a sieve: 1 % of a table of IDs and fingerprints. Of 50 million a search
// for a random fingerprint in storage reads 54 KB with it, 62 KB with 2 bits, 49 KB with 4, and
// 101 KB without a sieve.
const bitsPerKey = 2.7

// ShapeFor returns the shape of the sieve of n fingerprints, at most Most.
func ShapeFor(n int) Shape {
	// A wide probe has 128 to 256 keys then, a quarter of a page. With more low bits there are
	// fewer flips, and a group is smaller, but wide probes take longer.
	low := min(max(29-bits.Len(uint(max(n, 1)-1)), 1), 4)
	s := Shape{Low: [blocks]int{low + 1, low, low}}
	s.Slots = uint32(max(float64(n)*bitsPerKey/float64(s.groups()), 1))
	return s
}

// mostGroupBits bounds the groups, so that no number of slots overflows.
const mostGroupBits = 30

// valid reports whether there may be a sieve of the shape.
func (s *Shape) valid() bool {
	return s.Low[0] < size0 && s.Low[1] < size1 && s.Low[2] < size1 && s.groupBits() <= mostGroupBits && s.Slots > 0
}

// groupBits returns the number of bits that say which group.
func (s *Shape) groupBits() int { return s.Low[0] + s.Low[1] + s.Low[2] + 2 }

func (s *Shape) groups() uint64 { return 1 << s.groupBits() }

func (s *Shape) numSlots() uint64 { return s.groups() * uint64(s.Slots) }

// pages returns the number of pages.
func (s *Shape) pages() int { return int((s.numSlots() + slotsOfPage - 1) / slotsOfPage) }

// LowMask returns the low bits of all blocks, as bits of a fingerprint.
func (s *Shape) LowMask() uint64 {
	return (1<<s.Low[0]-1)<<shift0 | (1<<s.Low[1]-1)<<shift1 | (1<<s.Low[2] - 1)
}

// group returns the first slot of the group of a fingerprint.
func (s *Shape) group(fp uint64) uint64 {
	g := fp >> shift0 & (1<<s.Low[0] - 1)
	g = g<<s.Low[1] | fp>>shift1&(1<<s.Low[1]-1)
	g = g<<s.Low[2] | fp&(1<<s.Low[2]-1)
	g = g<<1 | uint64(bits.OnesCount64(fp>>shift0>>s.Low[0]))&1
	g = g<<1 | uint64(bits.OnesCount64(fp&mask1>>s.Low[2]))&1
	return g * uint64(s.Slots)
}

// slot returns which slot of its group a fingerprint has.
func (s *Shape) slot(fp uint64) uint64 {
	high := fp >> shift1 & mask1 >> s.Low[1]
	return high * uint64(s.Slots) >> (size1 - s.Low[1])
}
