package stages

import (
	"fmt"
	"math"
	"math/bits"
)

// Counts says about how many sets an element is in. What it says is never needed to be right, but
// it must be the same for all workers: the Counts of all sets, or of a sample of them.
type Counts struct{ n []uint32 }

// NewCounts returns counters that take about that many bytes.
func NewCounts(bytes int) *Counts { return &Counts{make([]uint32, 1<<bits.Len(uint(max(bytes, 4)/8)))} }

// Add counts the elements of a set.
func (c *Counts) Add(elements []uint64) {
	for _, e := range elements {
		c.add(int(e&uint64(len(c.n)-1)), 1)
	}
}

func (c *Counts) add(i int, n uint32) { c.n[i] += min(n, math.MaxUint32-c.n[i]) }

// Merge adds what others have counted, which must be of the same size.
func (c *Counts) Merge(other *Counts) error {
	if len(other.n) != len(c.n) {
		return fmt.Errorf("stages: %d counters and %d cannot be merged", len(c.n), len(other.n))
	}
	for i, n := range other.n {
		c.add(i, n)
	}
	return nil
}

// A key is the rank of an element, and leading bits of its hash.
const rankShift = 56

// rank returns a number that is greater for elements of more sets: of two bits after the leading
// one, too.
func (c *Counts) rank(e uint64) uint64 {
	if c == nil {
		return 0
	}
	n := uint64(c.n[e&uint64(len(c.n)-1)])
	shift := max(bits.Len64(n), 3) - 3
	return uint64(shift)<<2 + n>>shift
}
