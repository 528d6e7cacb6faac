package stages

import (
	"fmt"
	"math"
	"math/bits"
)

// Counts estimates how many sets contain an element. The result need not be accurate, but all
// workers must use the same Counts: of all sets, or of a sample.
type Counts struct{ n []uint32 }

// NewCounts returns counters that use about that many bytes.
func NewCounts(bytes int) *Counts { return &Counts{make([]uint32, 1<<bits.Len(uint(max(bytes, 4)/8)))} }

// Add counts the elements of a set.
func (c *Counts) Add(elements []uint64) {
	for _, e := range elements {
		c.add(int(e&uint64(len(c.n)-1)), 1)
	}
}

func (c *Counts) add(i int, n uint32) { c.n[i] += min(n, math.MaxUint32-c.n[i]) }

// Merge adds the counts of other, which must have the same size.
func (c *Counts) Merge(other *Counts) error {
	if len(other.n) != len(c.n) {
		return fmt.Errorf("stages: %d counters and %d cannot be merged", len(c.n), len(other.n))
	}
	for i, n := range other.n {
		c.add(i, n)
	}
	return nil
}

// A key is the rank of an element, followed by the leading bits of its hash.
const rankShift = 56

// Ranks are Counts of all sets, a byte each: a number that grows with the number of sets that
// contain an element. The zero value ranks all elements equal.
type Ranks []byte

// Ranks returns the ranks of the counters, which combine the exponent with the three leading bits.
func (c *Counts) Ranks() Ranks {
	ranks := make(Ranks, len(c.n))
	for i, n := range c.n {
		shift := max(bits.Len32(n), 3) - 3
		ranks[i] = byte(shift<<2) + byte(n>>shift)
	}
	return ranks
}

func (r Ranks) of(e uint64) uint64 {
	if len(r) == 0 {
		return 0
	}
	return uint64(r[e&uint64(len(r)-1)])
}
