package hamming

import (
	"math/bits"

	"github.com/simdb/simdb/internal/radix"
)

// NextOrder turns the distinct fingerprints that keys holds, permuted for table from and sorted,
// into the same permuted for table to and sorted, using tmp of the same length; it returns them and
// the spare array.
//
// Where one block leads each table its permutation is a rotation, and the array for table i+1 is
// almost sorted for table i: only the block that leads table i, lowest in the keys of table i+1, is
// out of place. So tables are made from the last to the first and each costs a sort by that one
// block.
func NextOrder(l Layout, from, to int, keys, tmp []uint64) (sorted, spare []uint64) {
	if l.Lead != 1 {
		for i, k := range keys {
			keys[i] = l.Permute(to, l.Unpermute(from, k))
		}
		return radix.Sort(keys, tmp, 64)
	}
	rotation := bits.TrailingZeros64(l.Permute(to, l.Unpermute(from, 1)))
	if rotation == 0 {
		return keys, tmp
	}
	keys, tmp = radix.Sort(keys, tmp, 64-rotation)
	for i, k := range keys {
		keys[i] = bits.RotateLeft64(k, rotation)
	}
	return keys, tmp
}
