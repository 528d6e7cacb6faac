package kernel

import (
	"context"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

// An input is one call of a kernel: run calls it, and result returns its outputs, in any
// form, if it was called once.
type input struct {
	run    func()
	result func() []uint64
}

// A trial makes inputs of a kernel.
type trial struct {
	usual int                             // a size that is usual in simdb, for benchmarks
	make  func(r *rand.Rand, n int) input // of size n
}

func numbers[T uint16 | uint32](x []T) (out []uint64) {
	for _, v := range x {
		out = append(out, uint64(v))
	}
	return out
}

// block returns the unary and the packed part of a block of n random keys, or of keys near q.
func block(r *rand.Rand, n, w int, q uint64) (unary, packed []byte) {
	unary = make([]byte, 8*((21*n/8+63)/64))
	for i := range n {
		at := i*21/8 + r.IntN(2)
		unary[at>>3] |= 1 << (at & 7)
	}
	return unary, pack(randomValues(r, n, w, q), w)
}

// someWidth is a width of packed values: mostly that of a table of a few million fingerprints.
func someWidth(r *rand.Rand) int {
	if r.IntN(2) == 0 {
		return 40
	}
	all := widths()
	return all[r.IntN(len(all))]
}

var trials = map[string]trial{
	"Prefetch": {512, func(r *rand.Rand, n int) input {
		data := make([]byte, 8*n)
		return input{func() { Prefetch(data); Prefetch2(data, data) }, func() []uint64 { return nil }}
	}},
	"PrefetchEach": {32, func(r *rand.Rand, n int) input {
		data, items := make([]byte, 64*n), make([]uint64, n)
		for i := range items {
			items[i] = r.Uint64N(uint64(n)) << 3
		}
		return input{func() { PrefetchEach(unsafe.Pointer(&data[0]), unsafe.Pointer(&items[0]), n, 8, 3, 6) }, func() []uint64 { return nil }}
	}},
	"ScanPacked": {168, func(r *rand.Rand, n int) input {
		w, q, k := someWidth(r), r.Uint64(), r.IntN(8)
		packed, from := pack(randomValues(r, n, w, q), w), r.IntN(1+n/4)
		var near []uint32
		return input{func() { near = ScanPacked(near[:0], packed, w, from, n, q, k) }, func() []uint64 { return numbers(near) }}
	}},
	"ScanFlat": {512, func(r *rand.Rand, n int) input {
		q, k := r.Uint64(), r.IntN(8)
		keys := randomValues(r, n, 64, q)
		var near []uint32
		return input{func() { near = ScanFlat(near[:0], keys, q, k) }, func() []uint64 { return numbers(near) }}
	}},
	"ScanSpans": {4, func(r *rand.Rand, n int) input {
		spans := make([]Span, 1+n%9)
		for i := range spans {
			w, q, size := someWidth(r), r.Uint64(), 1+r.IntN(60)
			from := r.IntN(size)
			spans[i].Set(pack(randomValues(r, size, w, q), w), w, from, size, q, r.IntN(5), 0)
		}
		var near []uint64
		return input{func() { near = ScanSpans(near[:0], spans) }, func() []uint64 { return near }}
	}},
	"ScanMany": {100, func(r *rand.Rand, n int) input {
		q, k := r.Uint64(), r.IntN(12)
		queries, keys := randomValues(r, 1+n/7, 64, q), randomValues(r, n, 64, q)
		for i := range keys { // most pairs are far apart
			keys[i] ^= r.Uint64()
		}
		var pairs []uint64
		return input{func() { pairs = ScanMany(pairs[:0], queries, keys, k) }, func() []uint64 { return pairs }}
	}},
	"RankZeros": {512, func(r *rand.Rand, n int) input {
		unary, _ := block(r, n, 0, 0)
		from := r.Uint64N(uint64(2*n) + 2)
		to := from + r.Uint64N(uint64(n))
		var lo, hi int
		return input{func() { lo, hi = RankZeros(unary, from, to, n) }, func() []uint64 { return []uint64{uint64(lo), uint64(hi)} }}
	}},
	"Select": {16, func(r *rand.Rand, n int) input {
		w := r.Uint64() | 1<<r.IntN(64)
		i, at := r.IntN(bits.OnesCount64(w)), 0
		return input{func() { at = Select(w, i) }, func() []uint64 { return []uint64{uint64(at)} }}
	}},
	"Decode": {512, func(r *rand.Rand, n int) input {
		w := someWidth(r)
		base := r.Uint64() &^ Mask(w)
		unary, packed := block(r, n, w, 0)
		var keys []uint64
		var space Keys
		return input{func() { keys = space.Decode(unary, packed, w, n/3%2, n, base) }, func() []uint64 { return keys }}
	}},
	"Ascending": {512, func(r *rand.Rand, n int) input {
		keys := make([]uint64, n)
		for i := range keys {
			keys[i] = uint64(i) << 50
		}
		keys[r.IntN(n)] -= uint64(r.IntN(2)) << 51
		ok := uint64(0)
		return input{func() {
			if ok = 0; Ascending(keys) {
				ok = 1
			}
		}, func() []uint64 { return []uint64{ok} }}
	}},
	"CRC32C": {2752, func(r *rand.Rand, n int) input {
		data, sum := make([]byte, n), uint32(0)
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		return input{func() { sum = CRC32C(7, data) }, func() []uint64 { return []uint64{uint64(sum)} }}
	}},
	"Count64": {200, func(r *rand.Rand, n int) input {
		x, counts := randomWords(r, n), [64]uint32{}
		return input{func() { clear(counts[:]); Count64(&counts, x) }, func() []uint64 { return numbers(counts[:]) }}
	}},
	"CountWide": {200, func(r *rand.Rand, n int) input {
		x, counts := randomWords(r, n), make([]uint32, 128)
		return input{func() { clear(counts); CountWide(counts, x) }, func() []uint64 { return numbers(counts) }}
	}},
	"Masks": {2048, func(r *rand.Rand, n int) input {
		text := make([]byte, n)
		for i := range text {
			text[i] = "etaoinshrdlu4 ,."[r.IntN(16)]
		}
		masks, done := make([]uint64, n/TextBlock), 0
		return input{func() { done = Masks(masks, text) }, func() []uint64 { return append(masks, uint64(done)) }}
	}},
	"Edges": {32, func(r *rand.Rand, n int) input {
		n = min(n, maxMasks)
		masks, edges, found := make([]uint64, n), make([]uint16, 64*n), 0
		for i := range masks {
			masks[i] = r.Uint64() | r.Uint64() | r.Uint64()
		}
		return input{func() { found = Edges(edges, masks) }, func() []uint64 { return numbers(edges[:found]) }}
	}},
	"HashWords": {400, func(r *rand.Rand, n int) input {
		words, edges, text := randomText(r, n, 5+r.IntN(13))
		k0, k1, hashes, done := r.Uint64(), r.Uint64(), make([]uint64, n), 0
		// Without a kernel nothing is hashed; then the words up to the first long group are hashed here.
		most := n / WordGroup * WordGroup
		for i, w := range words {
			if len(w) > WordMax {
				most = min(most, i/WordGroup*WordGroup)
			}
		}
		return input{func() {
			if done = HashWords(hashes, text, edges, k0, k1); !HasHashWords() {
				for done = range most {
					hashes[done] = plainHash(words[done], k0, k1)
				}
				done = most
			}
		}, func() []uint64 { return hashes[:done] }}
	}},
	"Shingles": {400, func(r *rand.Rand, n int) input {
		p, words, hashes, k := Poly{r.Uint64() | 1, r.Uint64() | 1}, randomWords(r, n), make([]uint64, n), 1+r.IntN(4)
		return input{func() { p.Shingles(hashes, words, k) }, func() []uint64 { return hashes }}
	}},
	"Below": {400, func(r *rand.Rand, n int) input {
		hashes, least, found, limit := randomWords(r, n), make([]uint32, n), 0, uint64(r.Uint32())>>r.IntN(4)
		return input{func() { found = Below(least, hashes, limit) }, func() []uint64 { return numbers(least[:found]) }}
	}},
	"Common": {128, func(r *rand.Rand, n int) input {
		limit, need, common := uint32(1+2*n), r.IntN(1+n)>>r.IntN(5), 0
		a, b := exact(ascending(r, n, limit)), exact(ascending(r, n-r.IntN(1+n/4), limit))
		return input{func() { common = Common(a, b, need) }, func() []uint64 { return []uint64{uint64(common)} }}
	}},
	"FilterBitmaps": {256, func(r *rand.Rand, n int) input {
		q, bitmaps, most := randomBitmap(r, 32), make([][4]uint64, n), 18+r.IntN(8)
		for i := range bitmaps {
			bitmaps[i] = randomBitmap(r, 32)
		}
		var found []uint32
		return input{func() { found = FilterBitmaps(found[:0], &q, bitmaps, most) }, func() []uint64 { return numbers(found) }}
	}},
	"Within": {4096, func(r *rand.Rand, n int) input {
		text := make([]rune, n)
		for i := range text {
			text[i] = rune("etaoin s"[r.IntN(8)])
		}
		other := slices.Clone(text)
		for range 1 + n/20 {
			other[r.IntN(n)] = rune("etaoin s"[r.IntN(8)])
		}
		p, distance := NewPattern(string(text)), 0
		return input{func() { distance, _ = p.Distance(context.Background(), other, n) }, func() []uint64 { return []uint64{uint64(distance)} }}
	}},
}

// levelsOf returns Go and the levels of this machine at which a kernel has code of its own.
func levelsOf(k kernel) (levels []Level) {
	for _, l := range Available() {
		if l == Go || slices.Contains(k.has, l) {
			levels = append(levels, l)
		}
	}
	slices.Sort(levels)
	return levels
}

// TestLevelsAgree runs every kernel of the table at every level on the same inputs: mostly small ones,
// which have all kinds of ends. The other tests compare with simple loops.
func TestLevelsAgree(t *testing.T) {
	defer use(active)
	if len(trials) != len(table) {
		t.Errorf("%d kernels, trials of %d", len(table), len(trials))
	}
	for _, k := range table {
		r := rand.New(rand.NewPCG(21, 22))
		tr, levels := trials[k.name], levelsOf(k)
		for i := 0; i < 12_000**rounds; i++ {
			n := 1 + r.IntN(1+i%80)
			if i%400 == 0 {
				n = 1 + r.IntN(min(tr.usual, BlockKeys))
			}
			in := tr.make(r, n)
			var want []uint64
			for _, l := range levels {
				use(l)
				if *k.at != l {
					t.Fatalf("%s runs at level %v, not %v", k.name, *k.at, l)
				}
				in.run()
				if got := in.result(); l == Go {
					want = slices.Clone(got)
				} else if !slices.Equal(got, want) {
					t.Fatalf("%s, input %d of size %d: %v at level %v, %v in Go", k.name, i, n, got, l, want)
				}
			}
		}
	}
}

// BenchmarkKernels measures every kernel of the table at every level: the figures by which a level is
// in the table. There are so many inputs that branches cannot be learned; with -short there are four,
// to count instructions under emulation. HashWords has no code in Go.
func BenchmarkKernels(b *testing.B) {
	defer use(active)
	for _, k := range table {
		r := rand.New(rand.NewPCG(23, 24))
		inputs := make([]input, 128)
		if testing.Short() {
			inputs = inputs[:4]
		}
		for i := range inputs {
			inputs[i] = trials[k.name].make(r, trials[k.name].usual)
		}
		for _, l := range levelsOf(k) {
			if l == Go && k.at == &at.hashWords {
				continue
			}
			b.Run(k.name+"/"+l.String(), func(b *testing.B) {
				use(l)
				for i := 0; b.Loop(); i++ {
					inputs[i%len(inputs)].run()
				}
			})
		}
	}
}
