package kernel

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// plainHash returns the hash of a word of at most 16 bytes.
func plainHash(word string, k0, k1 uint64) uint64 {
	var w [2]uint64
	for i, c := range []byte(strings.ToLower(word)) {
		w[i/8] |= uint64(c) << (i % 8 * 8)
	}
	hi, lo := bits.Mul64(w[0]^k0, w[1]^k1)
	return hi ^ lo
}

// randomText returns n words of at most longest letters, their edges, and the text.
func randomText(r *rand.Rand, n, longest int) (words []string, edges []uint16, text []byte) {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	for range n {
		text = append(text, "    "[:1+r.IntN(3)]...)
		start := len(text)
		for range 1 + r.IntN(longest) {
			text = append(text, letters[r.IntN(len(letters))])
		}
		words = append(words, string(text[start:]))
		edges = append(edges, uint16(start), uint16(len(text)))
	}
	for range WordMax {
		text = append(text, byte(r.IntN(256)))
	}
	return words, edges, slices.Clip(text)
}

func TestHashWords(t *testing.T) {
	withLevels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 1))
		for i := range 20_000 {
			longest := WordMax
			if i%3 == 0 {
				longest++
			}
			words, edges, text := randomText(r, r.IntN(100), longest)
			k0, k1 := r.Uint64(), r.Uint64()
			want := len(words) / WordGroup * WordGroup
			for i, w := range words {
				if len(w) > WordMax {
					want = min(want, i/WordGroup*WordGroup)
				}
			}
			if !HasHashWords() {
				want = 0
			}
			dst := slices.Clip(make([]uint64, len(words)))
			if n := HashWords(dst, text, edges, k0, k1); n != want {
				t.Fatalf("%d words hashed of %q, want %d", n, words, want)
			}
			for i, h := range dst {
				if i < want && h != plainHash(words[i], k0, k1) {
					t.Fatalf("hash of %q: %#x, want %#x", words[i], h, plainHash(words[i], k0, k1))
				}
			}
		}
	})
}

// TestHashWordsCarries has words with which the long multiplication has all possible carries.
func TestHashWordsCarries(t *testing.T) {
	withLevels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(2, 2))
		parts := []uint64{0, 1, 1<<32 - 1, 1 << 31, 0x80000001, 0xfffffffe}
		part := func() uint64 { return parts[r.IntN(len(parts))]<<32 | parts[r.IntN(len(parts))] }
		words, edges, text := randomText(r, WordGroup, WordMax)
		dst := make([]uint64, len(words))
		for range 20_000 {
			k0, k1 := part(), part()
			if i := r.IntN(len(words)); r.IntN(2) == 0 { // so that the factors of word i are parts
				k0 ^= plainHalf(words[i], 0)
				k1 ^= plainHalf(words[i], 1)
			}
			for i := range HashWords(dst, text, edges, k0, k1) {
				if want := plainHash(words[i], k0, k1); dst[i] != want {
					t.Fatalf("hash of %q with %#x, %#x: %#x, want %#x", words[i], k0, k1, dst[i], want)
				}
			}
		}
	})
}

// plainHalf returns the low or high eight bytes of a word.
func plainHalf(word string, half int) (w uint64) {
	for i, c := range []byte(strings.ToLower(word)) {
		if i/8 == half {
			w |= uint64(c) << (i % 8 * 8)
		}
	}
	return w
}

func TestShingles(t *testing.T) {
	p := Poly{Base: 0xbea225f9eb34556d, Mul: 0xd6e8feb86659fd93}
	withLevels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 3))
		for n := range 200 {
			words := make([]uint64, n)
			for i := range words {
				words[i] = r.Uint64()
			}
			words = slices.Clip(words)
			for _, k := range []int{1, 2, 3, 4, 5, maxHorner, maxHorner + 1, 40} {
				dst := make([]uint64, n+1)
				got := dst[:p.Shingles(dst, words, k)]
				var want []uint64
				for i := 0; i+k <= n; i++ {
					s := uint64(0)
					for _, w := range words[i : i+k] {
						s = s*p.Base + w
					}
					want = append(want, p.finish(s))
				}
				if !slices.Equal(got, want) || dst[len(want)] != 0 {
					t.Fatalf("n=%d k=%d: %x, want %x", n, k, dst, want)
				}
			}
		}
	})
}

func TestBelow(t *testing.T) {
	withLevels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(4, 4))
		for n := range 300 {
			hashes := make([]uint64, n)
			for i := range hashes {
				hashes[i] = r.Uint64()
				if r.IntN(8) == 0 {
					hashes[i] |= 0xffffffff << 32
				}
			}
			limits := []uint64{0, 1, 1 << 31, 1<<32 - 1, 1 << 32, math.MaxUint64, uint64(r.Uint32())}
			if n > 0 {
				limits = append(limits, hashes[0]>>32, hashes[0]>>32+1)
			}
			for _, limit := range limits {
				var want []uint32
				for _, h := range hashes {
					if h>>32 < limit {
						want = append(want, uint32(h>>32))
					}
				}
				dst := make([]uint32, n+1)
				if got := dst[:Below(dst, hashes, limit)]; !slices.Equal(got, want) || dst[n] != 0 {
					t.Fatalf("n=%d limit=%#x: %x, want %x", n, limit, got, want)
				}
			}
		}
	})
}

func TestHashesPanic(t *testing.T) {
	for name, f := range map[string]func(){
		"no room for shingles": func() { Poly{}.Shingles(make([]uint64, 7), make([]uint64, 10), 3) },
		"no words":             func() { Poly{}.Shingles(nil, make([]uint64, 10), 0) },
		"no room for hashes":   func() { Below(make([]uint32, 9), make([]uint64, 10), 1) },
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
