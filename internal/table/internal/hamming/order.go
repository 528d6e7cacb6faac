package hamming

import (
	"math/bits"

	"github.com/simdb/simdb/internal/ordered"
)

// NextOrder takes the distinct fingerprints in keys, permuted for table from and sorted, and
// returns them permuted for table to and sorted, and the spare array. tmp must be as long as keys.
//
// If one block leads each table, its permutation is a rotation, and the array for table i+1 is
// almost sorted for table i: only the block that leads table i, which comes last in the keys of
// table i+1, is out of place. So tables are made from the last to the first, and each costs a sort
// by that one block.
func NextOrder(l Layout, from, to int, keys, tmp []uint64, workers int) (sorted, spare []uint64) {
	if l.Lead != 1 {
		for i, k := range keys {
			keys[i] = l.Permute(to, l.Unpermute(from, k))
		}
		return ordered.SortParts(keys, tmp, 64, workers)
	}
	rotation := bits.TrailingZeros64(l.Permute(to, l.Unpermute(from, 1)))
	if rotation == 0 {
		return keys, tmp
	}
	keys, tmp = ordered.SortParts(keys, tmp, 64-rotation, workers)
	for i, k := range keys {
		keys[i] = bits.RotateLeft64(k, rotation)
	}
	return keys, tmp
}

// NearestRun returns which run of a table with layout from is closest to run table of a table with
// layout to: the keys of that run, rotated to the left by rotate bits, are the keys wanted, and no
// other run needs fewer bits. run is -1 if none does.
func NearestRun(from, to Layout, table int) (run, rotate int) {
	if from == to {
		return table, 0
	}
	if from.Lead != 1 || to.Lead != 1 {
		return -1, 0
	}
	want := bits.TrailingZeros64(to.Permute(table, 1))
	run, rotate = -1, 64
	for i := range from.Tables() {
		if d := (want - bits.TrailingZeros64(from.Permute(i, 1)) + 64) % 64; d < rotate {
			run, rotate = i, d
		}
	}
	return run, rotate
}
