package ordered

import (
	"context"
	"slices"
)

// InPlace sorts distinct items, unless ctx ends first. It is a quicksort that sorts short ranges
// without checking the context.
func InPlace[T any](ctx context.Context, items []T, compare func(a, b T) int) error {
	seed := uint64(len(items))
	for len(items) > runLength {
		var pivots [9]T
		for i := range pivots {
			seed = seed*6364136223846793005 + 1442695040888963407 // Knuth's MMIX
			pivots[i] = items[(seed>>32)%uint64(len(items))]
		}
		slices.SortFunc(pivots[:], compare)
		pivot, less := pivots[len(pivots)/2], 0
		for i := range items {
			if i%runLength == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if compare(items[i], pivot) < 0 {
				items[i], items[less] = items[less], items[i]
				less++
			}
		}
		small, large := items[:less], items[less:]
		if len(small) > len(large) {
			small, large = large, small
		}
		if err := InPlace(ctx, small, compare); err != nil {
			return err
		}
		if items = large; len(small) == 0 { // all items equal the pivot, or the pivot is the smallest
			break
		}
	}
	slices.SortFunc(items, compare)
	return ctx.Err()
}
