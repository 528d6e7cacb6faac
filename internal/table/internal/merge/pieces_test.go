package merge

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/simdb/simdb/internal/table/internal/keyrun"
	"github.com/simdb/simdb/internal/table/internal/keytest"
)

// TestCut cuts runs of all shapes, some rotated or shifted, into pieces of several sizes. Merged,
// the pieces must be the sorted keys of all streams; only frequent keys may be in two pieces; and
// no piece may be much larger than requested.
func TestCut(t *testing.T) {
	for _, shape := range keytest.Shapes {
		for _, size := range []int{1, 700, 5000, 1 << 20} {
			for _, rotate := range []int{0, 3, 7} {
				t.Run(fmt.Sprintf("%s/%d/%d", shape.Name, size, rotate), func(t *testing.T) {
					r := keytest.Rand(shape.Name, size+rotate)
					var streams []Stream
					var want []uint64
					for i := range 1 + r.IntN(4) {
						keys := shape.Make(r, 1+r.IntN(4000))
						slices.Sort(keys)
						run, err := keyrun.Open(keyrun.InMemory("run", keys))
						if err != nil {
							t.Fatal(err)
						}
						some, err := Rotated(i, run, rotate)
						if err != nil {
							t.Fatal(err)
						}
						if rotate == 0 && keys[len(keys)-1] < 1<<63 {
							some[0].Add = r.Uint64N(1 << 62)
						}
						streams = append(streams, some...)
						for _, k := range keys {
							want = append(want, bits.RotateLeft64(k+some[0].Add, rotate))
						}
					}
					slices.Sort(want)
					checkPieces(t, streams, size, want)
				})
			}
		}
	}
}

// checkPieces cuts streams, and compares the pieces with the expected keys.
func checkPieces(t *testing.T, streams []Stream, size int, want []uint64) {
	t.Helper()
	pieces, err := Cut(streams, size, inTurn)
	if err != nil {
		t.Fatal(err)
	}
	var got []uint64
	for i, p := range pieces {
		var keys []uint64
		var ends []int
		for _, span := range p.Spans {
			if keys, err = streams[span.Stream].Append(keys, span); err != nil {
				t.Fatal(err)
			}
			ends = append(ends, len(keys))
		}
		if len(keys) != p.Keys {
			t.Fatalf("piece %d has %d keys, not %d", i, len(keys), p.Keys)
		}
		most := 2*max(size, keyrun.BlockLen) + (len(streams)+1)*keyrun.BlockLen
		if len(keys) > most {
			t.Fatalf("piece %d of %d has %d keys, more than %d", i, len(pieces), len(keys), most)
		}
		keys, _ = Keys(keys, make([]uint64, len(keys)), ends)
		if p.Limit != 0 && len(keys) > 0 && keys[len(keys)-1] >= p.Limit {
			t.Fatalf("piece %d has %x, not less than %x", i, keys[len(keys)-1], p.Limit)
		}
		got = append(got, keys...)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("%d keys in %d pieces are not the %d sorted ones", len(got), len(pieces), len(want))
	}
}

// TestSortedPairs merges pairs: equal keys must stay in the order of their parts.
func TestSortedPairs(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for parts := range 20 {
		var p Pairs
		var ends []int
		for range parts {
			keys := keytest.Fill(r.IntN(50), func(int) uint64 { return r.Uint64N(20) })
			slices.Sort(keys)
			for _, k := range keys {
				p.Keys, p.Vals = append(p.Keys, k), append(p.Vals, uint32(len(p.Vals)))
			}
			ends = append(ends, len(p.Keys))
		}
		keys := slices.Clone(p.Keys)
		n := len(keys)
		got, _ := SortedPairs(p, Pairs{make([]uint64, n), make([]uint32, n)}, ends)
		for i := range got.Keys {
			if got.Keys[i] != keys[got.Vals[i]] || i > 0 && (got.Keys[i] < got.Keys[i-1] || got.Keys[i] == got.Keys[i-1] && got.Vals[i] < got.Vals[i-1]) {
				t.Fatalf("%d parts: pair %d is %d, %d", parts, i, got.Keys[i], got.Vals[i])
			}
		}
	}
}

// inTurn calls do in one goroutine.
func inTurn(n int, do func(i int) error) error {
	for i := range n {
		if err := do(i); err != nil {
			return err
		}
	}
	return nil
}
