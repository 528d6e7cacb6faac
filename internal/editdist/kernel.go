package editdist

import "github.com/simdb/simdb/internal/simd"

// kernel is one implementation; its method is in kernel_*.go.
type kernel simd.Level

// active is the kernel in use.
var active = kernel(simd.Active())

// together is how many columns are computed at once by vectors.
const together = 8

// Bands of fewer than leastTogether blocks are computed in pairs of columns: most vectors would be
// of columns that have not come to their first block, or are done with the last one.
const leastTogether = 4

// Vectors read and write words around those of a band, which are of no meaning: some before, and
// twice as many after.
const padding = together

// room returns words for the blocks of a band, with padding around them if there may be enough
// blocks for vectors.
func room(blocks int) []uint64 {
	if blocks < leastTogether {
		return make([]uint64, blocks)
	}
	return make([]uint64, padding+blocks+2*padding)[padding:][:blocks]
}
