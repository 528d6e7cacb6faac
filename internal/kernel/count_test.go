package kernel

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// plainCount is the simple loop that all kernels are compared with, in tests and benchmarks.
func plainCount(counts []uint32, hashes []uint64) {
	for j := range len(counts) / 64 {
		c := counts[64*j:][:64]
		for _, h := range hashes {
			w := RowWord(h, j)
			for p := range c {
				c[p] += uint32(w >> p & 1)
			}
		}
	}
}

// randomWords returns n words of one of several kinds: uniform, sparse, dense, all ones, all zeros,
// one bit.
func randomWords(r *rand.Rand, n int) []uint64 {
	x := make([]uint64, n)
	kind := r.IntN(6)
	for i := range x {
		switch kind {
		case 0:
			x[i] = r.Uint64()
		case 1:
			x[i] = r.Uint64() & r.Uint64() & r.Uint64()
		case 2:
			x[i] = r.Uint64() | r.Uint64() | r.Uint64()
		case 3:
			x[i] = ^uint64(0)
		case 5:
			x[i] = 1 << r.IntN(64)
		}
	}
	return x
}

func TestCount64EveryLength(t *testing.T) {
	withLevels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 1))
		for n := range 601 {
			for range 4 {
				off := r.IntN(9)
				x := randomWords(r, n+off)[off:]
				var got, want [64]uint32
				for p := range got {
					got[p] = r.Uint32()
				}
				want = got
				Count64(&got, x)
				plainCount(want[:], x)
				if got != want {
					t.Fatalf("n=%d: got %v, want %v", n, got, want)
				}
			}
		}
	})
}

func TestCountWideEveryLength(t *testing.T) {
	withLevels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(2, 2))
		for n := range 601 {
			off := r.IntN(9)
			x := randomWords(r, n+off)[off:]
			got := make([]uint32, 64*r.IntN(5))
			for p := range got {
				got[p] = r.Uint32()
			}
			want := slices.Clone(got)
			CountWide(got, x)
			plainCount(want, x)
			if !slices.Equal(got, want) {
				t.Fatalf("n=%d words=%d: got %v, want %v", n, len(got)/64, got, want)
			}
		}
	})
}

// TestLong crosses each point at which a kernel empties its narrow counters, with the inputs that
// fill them fastest.
func TestLong(t *testing.T) {
	withLevels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 3))
		x := make([]uint64, 1<<18)
		for i := range x {
			x[i] = ^uint64(0)
		}
		lengths := []int{3967, 3968, 3969, 4095, 16319, 16320, 16321, 65534, 65535, 65536, 131071, len(x)}
		for range 20 {
			lengths = append(lengths, r.IntN(len(x)))
		}
		for _, n := range lengths {
			var got [64]uint32
			Count64(&got, x[:n])
			for p, c := range got {
				if c != uint32(n) {
					t.Fatalf("n=%d: position %d counted %d times", n, p, c)
				}
			}
			// Equal hashes make equal rows, so every count is 0 or n.
			wide := make([]uint32, 128)
			CountWide(wide, x[:n])
			for p, c := range wide {
				if want := uint32(n) * uint32(RowWord(^uint64(0), p/64)>>(p%64)&1); c != want {
					t.Fatalf("n=%d: wide position %d counted %d times, want %d", n, p, c, want)
				}
			}
		}
	})
}

// TestWord pins the output of RowWord, on which stored wide fingerprints depend. The values for h =
// 0 are the published first outputs of SplitMix64 seeded with 0.
func TestWord(t *testing.T) {
	for _, c := range []struct {
		h    uint64
		j    int
		want uint64
	}{
		{0, 0, 0},
		{0, 1, 0xe220a8397b1dcdaf},
		{0, 2, 0x6e789e6aa1b965f4},
		{0, 3, 0x06c45d188009454f},
		{0x0123456789abcdef, 0, 0x0123456789abcdef},
	} {
		if got := RowWord(c.h, c.j); got != c.want {
			t.Errorf("RowWord(%#x, %d) = %#x, want %#x", c.h, c.j, got, c.want)
		}
	}
}

func TestBadLengthsPanic(t *testing.T) {
	for name, f := range map[string]func(){
		"odd counts": func() { CountWide(make([]uint32, 65), nil) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Fatal("no panic")
				}
			}()
			f()
		})
	}
}

func TestNoAllocation(t *testing.T) {
	withLevels(t, func(t *testing.T) {
		x := randomWords(rand.New(rand.NewPCG(5, 5)), 1000)
		counts := make([]uint32, 1024)
		if n := testing.AllocsPerRun(10, func() { CountWide(counts, x) }); n != 0 {
			t.Fatalf("%v allocations", n)
		}
	})
}

func FuzzCount(f *testing.F) {
	f.Add([]byte("seed"), uint8(1))
	f.Add(make([]byte, 1100), uint8(3))
	f.Fuzz(func(t *testing.T, data []byte, words uint8) {
		x := make([]uint64, len(data)/3)
		for i := range x {
			for _, b := range data[3*i : 3*i+3] {
				x[i] = x[i]*0x10001000001 + uint64(b)<<(i%57)
			}
		}
		want := make([]uint32, 64*int(words%5))
		plainCount(want, x)
		for _, k := range Available() {
			saved := active
			use(k)
			got := make([]uint32, len(want))
			CountWide(got, x)
			use(saved)
			if !slices.Equal(got, want) {
				t.Fatalf("%s: got %v, want %v", k, got, want)
			}
		}
	})
}
