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

// rank returns a number that grows with the number of sets that contain e: it combines the
// exponent with the three leading bits.
func (c *Counts) rank(e uint64) uint64 {
	if c == nil {
		return 0
	}
	n := uint64(c.n[e&uint64(len(c.n)-1)])
	shift := max(bits.Len64(n), 3) - 3
	return uint64(shift)<<2 + n>>shift
}
