package kernel

import (
	"encoding/binary"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// plainCommon is a simple implementation of Common.
func plainCommon(a, b []uint32, need int) int {
	in := make(map[uint32]bool)
	for _, x := range a {
		in[x] = true
	}
	n := 0
	for _, x := range b {
		if in[x] {
			n++
		}
	}
	if n < need {
		return -1
	}
	return n
}

// ascending returns about n distinct ascending numbers below limit, which may include the largest
// and smallest ones.
func ascending(r *rand.Rand, n int, limit uint32) []uint32 {
	s := make([]uint32, n)
	for i := range s {
		s[i] = r.Uint32N(limit)
		switch r.IntN(200) {
		case 0:
			s[i] = math.MaxUint32
		case 1:
			s[i] = 0
		}
	}
	slices.Sort(s)
	return slices.Compact(s)
}

// exact returns a copy of s that ends at the end of its allocation.
func exact(s []uint32) []uint32 { return slices.Clip(slices.Clone(s)) }

func checkCommon(t *testing.T, a, b []uint32, need int) {
	t.Helper()
	want := plainCommon(a, b, need)
	eachLevel(func(l Level) {
		if got := Common(a, b, need); got != want {
			t.Fatalf("%v: Common(%v, %v, %d) = %d, want %d", l, a, b, need, got, want)
		}
	})
}

func TestCountEveryLength(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for na := range 70 {
		for nb := range 70 {
			limit := []uint32{80, 200, 1000, math.MaxUint32}[r.IntN(4)]
			checkCommon(t, exact(ascending(r, na, limit)), exact(ascending(r, nb, limit)), 0)
		}
	}
}

func TestCountRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 4_000 {
		limit := 1 + r.Uint32N(1<<(1+r.IntN(12)))
		a := exact(ascending(r, r.IntN(400), limit))
		b := exact(ascending(r, r.IntN(400), limit))
		common := plainCommon(a, b, 0)
		for _, need := range []int{0, 1, common - 1, common, common + 1, common + 20, len(a), -3} {
			checkCommon(t, a, b, need)
		}
	}
}

func randomBitmap(r *rand.Rand, n int) (b [4]uint64) {
	for range n {
		i := r.IntN(256)
		b[i/64] |= 1 << (i % 64)
	}
	return b
}

func TestFilterBitmaps(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for n := range 600 {
		q := randomBitmap(r, r.IntN(300))
		bitmaps := make([][4]uint64, n)
		for i := range bitmaps {
			bitmaps[i] = randomBitmap(r, r.IntN(500))
			if r.IntN(5) == 0 {
				bitmaps[i] = q
			}
		}
		for _, most := range []int{-1, 0, 1, 63, 64, 100, 127, 128, 255, 256, math.MaxInt, r.IntN(200)} {
			want := []uint32{7}
			for i, b := range bitmaps {
				lack := 0
				for w := range b {
					lack += bits.OnesCount64(q[w] &^ b[w])
				}
				if lack <= most {
					want = append(want, uint32(i))
				}
			}
			eachLevel(func(l Level) {
				if got := FilterBitmaps([]uint32{7}, &q, bitmaps, most); !slices.Equal(got, want) {
					t.Fatalf("%v: Filter of %d bitmaps, at most %d: %v, want %v", l, n, most, got, want)
				}
			})
		}
	}
}

// TestFilterFull has bitmaps that lack 256 bits: the maximum for the narrowest sums.
func TestFilterFull(t *testing.T) {
	q := [4]uint64{}
	for i := range q {
		q[i] = math.MaxUint64
	}
	bitmaps := make([][4]uint64, 20)
	bitmaps[3], bitmaps[17] = q, q
	bitmaps[5][2] = 1 << 40
	eachLevel(func(l Level) {
		for _, c := range []struct {
			most int
			want []uint32
		}{{0, []uint32{3, 17}}, {254, []uint32{3, 17}}, {255, []uint32{3, 5, 17}}} {
			if got := FilterBitmaps(nil, &q, bitmaps, c.most); !slices.Equal(got, c.want) {
				t.Errorf("%v: at most %d: %v, want %v", l, c.most, got, c.want)
			}
		}
	})
}

func FuzzCommon(f *testing.F) {
	f.Add([]byte("0123456789abcdefghijklmnopqrstuvwxyz"), []byte("0123456789mnopqrstuvwxyz"), 3)
	f.Add(make([]byte, 400), make([]byte, 300), 1)
	f.Fuzz(func(t *testing.T, x, y []byte, need int) {
		var lists [2][]uint32
		for i, data := range [][]byte{x, y} {
			for ; len(data) >= 2; data = data[2:] {
				lists[i] = append(lists[i], uint32(binary.LittleEndian.Uint16(data)))
			}
			slices.Sort(lists[i])
			lists[i] = exact(slices.Compact(lists[i]))
		}
		checkCommon(t, lists[0], lists[1], need)
	})
}
