package hamming

import (
	"slices"
	"testing"

	"github.com/simdb/simdb/internal/table/internal/keytest"
)

func TestNextOrder(t *testing.T) {
	for _, l := range []Layout{{1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 1}, {7, 1}, {8, 1}, {16, 1}, {3, 2}, {4, 4}, {5, 2}, {6, 3}, {8, 2}} {
		for i := range 4 * len(keytest.Shapes) {
			n := []int{0, 1, 50, 3000}[i%4]
			fps := keytest.Shapes[i/4].Make(keytest.Rand("order", i), max(n, 1))[:n]
			slices.Sort(fps)
			fps = slices.Compact(fps)
			keys, tmp := slices.Clone(fps), make([]uint64, len(fps))
			for from, to := 0, l.Tables()-1; to > 0; from, to = to, to-1 {
				keys, tmp = NextOrder(l, from, to, keys, tmp, 1)
				want := make([]uint64, len(fps))
				for i, fp := range fps {
					want[i] = l.Permute(to, fp)
				}
				slices.Sort(want)
				if !slices.Equal(keys, want) {
					t.Fatalf("layout %v, table %d of %d keys: wrong order", l, to, n)
				}
			}
		}
	}
}
