package kernel

import (
	"bytes"
	"flag"
	"hash/crc32"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

var rounds = flag.Int("rounds", 1, "how many times as many random inputs")

// widths returns all widths of packed values.
func widths() (all []int) {
	for w := 0; w <= 64; w++ {
		if RoundWidth(w) == w {
			all = append(all, w)
		}
	}
	return all
}

// pack packs values of width w, bit by bit, and appends the slack that kernels need, filled with
// noise.
func pack(values []uint64, w int) []byte {
	out := make([]byte, (len(values)*w+7)/8+Slack)
	for i := range out[len(out)-Slack:] {
		out[len(out)-1-i] = 0xa5
	}
	for i, v := range values {
		for b := range w {
			bit := i*w + b
			out[bit>>3] = out[bit>>3]&^(1<<(bit&7)) | byte(v>>b&1)<<(bit&7)
		}
	}
	return out
}

func TestAppendPacked(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, w := range widths() {
		for _, n := range []int{0, 1, 2, 63, 64, 65, 512} {
			values := randomValues(r, n, w, r.Uint64())
			want := pack(values, w)
			want = want[:len(want)-Slack]
			for len(want)%8 > 0 {
				want = append(want, 0)
			}
			for i := range values {
				values[i] |= r.Uint64() &^ Mask(w) // must be ignored
			}
			if got := AppendPacked([]byte("x"), values, w); string(got) != "x"+string(want) {
				t.Fatalf("%d values of width %d: %x, not %x", n, w, got[1:], want)
			}
		}
	}
}

func randomValues(r *rand.Rand, n, w int, q uint64) []uint64 {
	values := make([]uint64, n)
	for i := range values {
		switch r.IntN(3) {
		case 0:
			values[i] = r.Uint64()
		case 1:
			values[i] = q ^ 1<<r.IntN(64) ^ 1<<r.IntN(64)
		default:
			values[i] = q
			for range r.IntN(20) {
				values[i] ^= 1 << r.IntN(64)
			}
		}
		values[i] &= Mask(w)
	}
	return values
}

func wantNear(values []uint64, from, to int, q uint64, w, k int) []uint32 {
	var want []uint32
	for i := from; i < to; i++ {
		if bits.OnesCount64((values[i]^q)&Mask(w)) <= k {
			want = append(want, uint32(i))
		}
	}
	return want
}

func TestGet(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, w := range widths() {
		values := randomValues(r, 130, w, r.Uint64())
		packed := pack(values, w)
		for i, v := range values {
			if got := Get(packed, w, i); got != v {
				t.Fatalf("width %d: value %d is %x, want %x", w, i, got, v)
			}
		}
	}
}

func TestRoundWidth(t *testing.T) {
	for w := 0; w <= 64; w++ {
		if got := RoundWidth(w); got < w || RoundWidth(got) != got {
			t.Errorf("RoundWidth(%d) = %d", w, got)
		}
		for i := range 8 {
			if RoundWidth(w) == w && i*w%8+w > 64 {
				t.Errorf("value %d of width %d does not fit into eight bytes", i, w)
			}
		}
	}
}

func TestScanPacked(t *testing.T) { withLevels(t, testScanPacked) }

// testScanPacked compares the active kernel with a simple loop over unpacked values.
func testScanPacked(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for _, w := range widths() {
		for range 60 * *rounds {
			q := r.Uint64()
			values := randomValues(r, 1+r.IntN(600), w, q)
			packed := pack(values, w)
			from := r.IntN(len(values) + 1)
			to := from + r.IntN(len(values)-from+1)
			k := r.IntN(66)
			if r.IntN(2) == 0 {
				k = r.IntN(5)
			}
			got := ScanPacked([]uint32{7}, packed[:(to*w+7)/8+Slack], w, from, to, q, k)
			if got[0] != 7 || !slices.Equal(got[1:], wantNear(values, from, to, q, w, k)) {
				t.Fatalf("width %d, [%d, %d), k %d: %d positions, want %d", w, from, to, k,
					len(got)-1, len(wantNear(values, from, to, q, w, k)))
			}
		}
	}
}

func TestScanSpans(t *testing.T) { withLevels(t, testScanSpans) }

// testScanSpans compares the active kernel with simple loops. Spans are short, as most are, or as
// long as a block.
func testScanSpans(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	ws := widths()
	for n := range 2000 * *rounds {
		var spans []Span
		want := []uint64{7}
		for i := range 1 + n%9 {
			w, q, k := ws[r.IntN(len(ws))], r.Uint64(), r.IntN(65)
			values := randomValues(r, 1+r.IntN(BlockKeys), w, q)
			from := r.IntN(len(values))
			to := from + 1 + r.IntN(len(values)-from)
			if r.IntN(2) == 0 {
				to = min(to, from+1+r.IntN(30))
			}
			if r.IntN(2) == 0 {
				k = r.IntN(5)
			}
			spans = append(spans, Span{})
			spans[i].Set(pack(values, w)[:(to*w+7)/8+Slack], w, from, to, q, k, 0)
			for _, pos := range wantNear(values, from, to, q, w, k) {
				want = append(want, uint64(i)<<32|uint64(pos))
			}
		}
		PrefetchSpans(spans)
		if got := ScanSpans([]uint64{7}, spans); !slices.Equal(got, want) {
			t.Fatalf("%v: %d positions, want %d", spans, len(got)-1, len(want)-1)
		}
	}
	if got := ScanSpans(nil, nil); got != nil {
		t.Fatalf("of no spans: %v", got)
	}
}

func TestScanFlat(t *testing.T) { withLevels(t, testScanFlat) }

func testScanFlat(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for n := range 200 {
		for range 10 * *rounds {
			q := r.Uint64()
			values := randomValues(r, n, 64, q)
			k := r.IntN(66)
			got := ScanFlat([]uint32{7}, values, q, k)
			if got[0] != 7 || !slices.Equal(got[1:], wantNear(values, 0, n, q, 64, k)) {
				t.Fatalf("%d keys, k %d: %v", n, k, got)
			}
		}
	}
}

func TestScanMany(t *testing.T) { withLevels(t, testScanMany) }

// testScanMany compares the active kernel, including the order of pairs, with simple loops over
// tiles.
func testScanMany(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 13))
	check := func(queries, keys []uint64, k int) {
		t.Helper()
		want := manyNear([]uint64{7}, queries, keys, k)
		if got := ScanMany([]uint64{7}, queries, keys, k); !slices.Equal(got, want) {
			t.Fatalf("%d queries, %d keys, k %d: %d pairs, want %d", len(queries), len(keys), k, len(got)-1, len(want)-1)
		}
	}
	random := func(n, m, k int) {
		t.Helper()
		center := r.Uint64()
		check(randomValues(r, n, 64, center), randomValues(r, m, 64, center), k)
	}
	for n := range 20 {
		for m := range 40 {
			for _, k := range []int{-1, 0, 3, r.IntN(66)} {
				random(n, m, k)
			}
		}
	}
	for range 20 * *rounds {
		random(1+r.IntN(200), 1+r.IntN(BlockKeys), r.IntN(66))
	}
	random(9, 20_000, 30) // one row of tiles has more pairs than the preallocated space
}

// manyNear appends the expected result of ScanMany.
func manyNear(dst, queries, keys []uint64, k int) []uint64 {
	for i := 0; i < len(queries); i += 4 {
		for j := 0; j < len(keys); j += 8 {
			for q := i; q < min(i+4, len(queries)); q++ {
				for key := j; key < min(j+8, len(keys)); key++ {
					if bits.OnesCount64(queries[q]^keys[key]) <= k {
						dst = append(dst, uint64(q)<<32|uint64(key))
					}
				}
			}
		}
	}
	return dst
}

func TestScanManyCoarse(t *testing.T) { withLevels(t, testScanManyCoarse) }

// testScanManyCoarse has few pairs among unrelated fingerprints, so that hardly any others pass a
// coarse comparison. From some position on, most keys differ from all queries in the same two bits
// of every byte. These pass, and coarse comparisons are abandoned.
func testScanManyCoarse(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 15))
	flip := func(n int) (mask uint64) {
		for bits.OnesCount64(mask) < n {
			mask |= 1 << r.IntN(64)
		}
		return mask
	}
	check := func(n, m, pairs, similarFrom, k int) {
		t.Helper()
		queries, keys := make([]uint64, n), make([]uint64, m)
		for i := range queries {
			queries[i] = r.Uint64()
		}
		if similarFrom < m {
			for i := range queries {
				queries[i] = queries[0] ^ flip(1)
			}
		}
		for i := range keys {
			if keys[i] = r.Uint64(); i >= similarFrom {
				keys[i] = queries[0] ^ (1<<r.IntN(4)|16<<r.IntN(4))*0x0101010101010101
			}
		}
		for range pairs {
			keys[r.IntN(m)] = queries[r.IntN(n)] ^ flip(k+r.IntN(2))
		}
		want := manyNear(nil, queries, keys, k)
		if got := ScanMany(nil, queries, keys, k); !slices.Equal(got, want) {
			t.Fatalf("%d queries, %d keys, similar from %d, k %d: %x, want %x", n, m, similarFrom, k, got, want)
		}
	}
	for k := range 12 {
		for m := 1; m < 140; m++ {
			for n := max(1, 384/m-4); n <= 384/m+8; n += 1 + r.IntN(3) {
				for range *rounds {
					check(n, m, 1, m, k)
					check(n, m, r.IntN(4), r.IntN(m+1), k)
				}
			}
		}
		for _, m := range []int{511, 512, 513, 1000, 1024, 1025, 1040, 3000} {
			for range 4 * *rounds {
				check(1+r.IntN(20), m+r.IntN(3), r.IntN(60), m+3, k)
				check(1+r.IntN(20), m+r.IntN(3), r.IntN(60), r.IntN(m), k)
			}
		}
	}
	for k := range 65 {
		for range *rounds {
			check(13+r.IntN(4), 90+r.IntN(20), r.IntN(9), 110, min(k, 63))
		}
	}
	// Every query and key differ in exactly k bits.
	for _, k := range []int{0, 3, 5, 6, 8, 9} {
		const n, m = 15, 107
		for i := range n * m {
			queries, keys := make([]uint64, n), make([]uint64, m)
			for _, all := range [][]uint64{queries, keys} {
				for i := range all {
					all[i] = r.Uint64()
				}
			}
			q, key := i/m, i%m
			keys[key] = queries[q] ^ flip(k)
			want := manyNear(nil, queries, keys, k)
			if got := ScanMany(nil, queries, keys, k); !slices.Equal(got, want) {
				t.Fatalf("query %d, key %d, k %d: %x, want %x", q, key, k, got, want)
			}
		}
	}
}

// TestScanManyKeepsOut checks the words after the capacity of dst.
func TestScanManyKeepsOut(t *testing.T) {
	withLevels(t, func(t *testing.T) {
		for _, size := range [][2]int{{1, 1}, {3, 9}, {5, 7}, {4, 32}, {15, 100}, {16, 41}} {
			for room := range 12 {
				queries, keys := make([]uint64, size[0]), make([]uint64, size[1])
				all := bytes.Repeat([]byte{0xa5}, 8*(len(queries)*len(keys)+32))
				words := unsafe.Slice((*uint64)(unsafe.Pointer(&all[0])), len(all)/8)
				end := len(queries)*len(keys) + room
				if n := len(ScanMany(words[:0:end], queries, keys, 3)); n != len(queries)*len(keys) {
					t.Fatalf("%d pairs of %v", n, size)
				}
				for _, w := range words[end:] {
					if w != 0xa5a5a5a5a5a5a5a5 {
						t.Fatalf("%v, room for %d more: %x is behind the capacity", size, room, w)
					}
				}
			}
		}
	})
}

// TestScanManyMovesStack compares fingerprints on stacks that are too small for a kernel.
func TestScanManyMovesStack(t *testing.T) {
	withLevels(t, func(t *testing.T) {
		for seed := range uint64(100) {
			done := make(chan bool)
			go func() {
				var queries [15]uint64
				var keys [100]uint64
				for i := range keys {
					keys[i] = (seed + uint64(i)) * 0x9e3779b97f4a7c15
				}
				copy(queries[:], keys[50:])
				done <- slices.Equal(ScanMany(nil, queries[:], keys[:], 3), manyNear(nil, queries[:], keys[:], 3))
			}()
			if !<-done {
				t.Fatal("the pairs differ")
			}
		}
	})
}

func TestRankZeros(t *testing.T) { withLevels(t, testRankZeros) }

func testRankZeros(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for range 20_000 * *rounds {
		unary := make([]byte, 8*r.IntN(30))
		density := r.IntN(5)
		for i := range unary {
			unary[i] = byte(r.Uint32())
			for range density {
				unary[i] |= byte(r.Uint32())
			}
		}
		before := []int{0} // before[h]: number of ones before zero number h
		ones := 0
		for i := range 8 * len(unary) {
			if unary[i>>3]>>(i&7)&1 == 0 {
				before = append(before, ones)
			} else {
				ones++
			}
		}
		rank := func(h uint64) int {
			if h < uint64(len(before)) {
				return before[h]
			}
			return ones
		}
		from := r.Uint64N(uint64(len(before) + 3))
		to := from + r.Uint64N(uint64(len(before)+3))
		if r.IntN(10) == 0 {
			to = ^uint64(0)
		}
		if lo, hi := RankZeros(unary, from, to, ones); lo != rank(from) || hi != rank(to) {
			t.Fatalf("%x: ones before zeros %d, %d: %d, %d, want %d, %d", unary, from, to, lo, hi, rank(from), rank(to))
		}
	}
}

func TestDecode(t *testing.T) { withLevels(t, testDecode) }

func testDecode(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	var k Keys
	for _, w := range widths() {
		for range 40 * *rounds {
			n := 1 + r.IntN(BlockKeys)
			lows := randomValues(r, n, w, r.Uint64())
			base := r.Uint64() << w >> 1
			base &^= Mask(w)
			want := make([]uint64, n)
			unary := make([]byte, 8*((n+3*n+63)/64))
			prefix := 0
			for i := range want {
				if prefix < 3*n {
					prefix += r.IntN(4)
				}
				unary[(prefix+i)>>3] |= 1 << ((prefix + i) & 7)
				want[i] = base + uint64(prefix)<<w + lows[i]
				prefix = min(prefix, 3*n-1)
			}
			lo := r.IntN(n)
			hi := lo + r.IntN(n-lo+1)
			packed := pack(lows, w)
			if got := k.Decode(unary, packed, w, lo, hi, base); !slices.Equal(got, want[lo:hi]) {
				t.Fatalf("width %d, [%d, %d) of %d: the keys differ", w, lo, hi, n)
			}
		}
	}
	// An invalid block: more ones than keys, or none. It only needs to terminate.
	packed := make([]byte, BlockKeys*8+Slack)
	unary := bytes.Repeat([]byte{0xff}, 64*8)
	k.Decode(unary, packed, 40, 0, BlockKeys, 0)
	k.Decode(unary[:8], packed, 40, 3, BlockKeys, 0)
	clear(unary)
	k.Decode(unary, packed, 40, 0, BlockKeys, 0)
	k.Decode(nil, packed, 40, 0, BlockKeys, 0)
}

func TestScanBlock(t *testing.T) { withLevels(t, testScanBlock) }

// testScanBlock compares ScanBlock with RankZeros and ScanPacked.
func testScanBlock(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 12))
	var dst []uint32
	for _, w := range widths() {
		for range 60 * *rounds {
			q := r.Uint64()
			values := randomValues(r, 1+r.IntN(BlockKeys), w, q)
			n := len(values)
			unary := make([]byte, 8*((2*n+63)/64))
			for i := range n {
				at := i * (8 * len(unary)) / n
				unary[at>>3] |= 1 << (at & 7)
			}
			from := r.Uint64N(uint64(n + 3))
			to := from + r.Uint64N(uint64(n+3))
			k := r.IntN(12)
			packed := pack(values, w)
			wantLo, wantHi := rankZerosGo(unary, from, to, n)
			want := wantNear(values, wantLo, wantHi, q, w, k)
			var lo, hi int
			dst, lo, hi = ScanBlock(dst, append(unary, packed...), len(unary)/8, w, n, from, to, q, k)
			if lo != wantLo || hi != wantHi {
				t.Fatalf("width %d: zeros %d, %d: [%d, %d), want [%d, %d)", w, from, to, lo, hi, wantLo, wantHi)
			}
			if !slices.Equal(dst, want) {
				t.Fatalf("width %d, k %d: %d positions, want %d", w, k, len(dst), len(want))
			}
		}
	}
}

func TestSelect(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for range 20_000 * *rounds {
		w := r.Uint64() & (r.Uint64() | -uint64(r.IntN(2)))
		for i, rest := 0, w; rest != 0; i, rest = i+1, rest&(rest-1) {
			if got, pure := Select(w, i), selectGo(w, i); got != bits.TrailingZeros64(rest) || pure != got {
				t.Fatalf("Select(%x, %d) = %d, in Go %d", w, i, got, pure)
			}
		}
	}
}

// TestAscending puts every kind of descent at every position.
func TestAscending(t *testing.T) {
	withLevels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		for n := range 70 {
			keys := make([]uint64, n, n+1)
			for i := range keys {
				keys[i] = r.Uint64() >> (r.IntN(2) * 60)
			}
			slices.Sort(keys)
			if keys := append(keys, 0)[:n]; !Ascending(keys) {
				t.Fatalf("%x does not ascend", keys)
			}
			for i := 1; i < n; i++ {
				down := slices.Clone(keys)
				if down[i-1] = keys[i] + 1; down[i-1] > keys[i] && Ascending(down) {
					t.Fatalf("%x ascends", down)
				}
				if down[i-1], down[i] = keys[i-1], keys[i-1]-1; keys[i-1] > 0 && Ascending(down) {
					t.Fatalf("%x ascends", down)
				}
			}
		}
	})
}

// TestCRC32C compares all lengths up to a few steps of the kernel, and long ones, at all offsets,
// with the standard library.
func TestCRC32C(t *testing.T) {
	withLevels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		data := make([]byte, 1<<16)
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		table := crc32.MakeTable(crc32.Castagnoli)
		check := func(sum uint32, p []byte) {
			if got, want := CRC32C(sum, p), crc32.Update(sum, table, p); got != want {
				t.Fatalf("after %08x, %d bytes: %08x, not %08x", sum, len(p), got, want)
			}
		}
		for n := range 1200 {
			check(0, data[n&63:][:n])
			check(r.Uint32(), data[r.IntN(1024):][:n])
		}
		for range 1000 {
			from := r.IntN(len(data))
			check(r.Uint32(), data[from:from+r.IntN(len(data)-from+1)])
		}
		check(0, make([]byte, 4096))
		check(^uint32(0), make([]byte, 511))
	})
}
