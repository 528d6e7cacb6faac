package keyrun

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/simdb/simdb/sstable/internal/keytest"
)

// The codec that key runs are compared with: Manku, Jain, Das Sarma (WWW 2007), section 3. A block
// of 1 KiB starts with its first key verbatim. Each further key is XORed with the one before; the
// position of the most significant one is Huffman-coded, and the bits below it follow verbatim. The
// code's lengths are counted over the whole run and kept once, 65 bytes.

const paperBlock = 1024

type paperRun struct {
	lengths [65]uint8 // of the code of each position; 64 stands for an equal key
	blocks  []byte    // of paperBlock bytes each
	counts  []uint16  // keys in each block
}

// symbol returns the position of the most significant one, counted from the top, 64 if there is
// none.
func paperSymbol(delta uint64) int { return bits.LeadingZeros64(delta) }

func encodePaper(keys []uint64) *paperRun {
	var freq [65]int
	for i := 1; i < len(keys); i++ {
		freq[paperSymbol(keys[i]^keys[i-1])]++
	}
	p := &paperRun{lengths: huffmanLengths(freq[:])}
	codes := canonicalCodes(p.lengths)
	var w bitWriter
	count := 0
	flush := func() {
		if count > 0 {
			p.blocks = append(p.blocks, w.finish(paperBlock)...)
			p.counts = append(p.counts, uint16(count))
		}
		w, count = bitWriter{}, 0
	}
	for i, key := range keys {
		if count > 0 {
			delta := key ^ keys[i-1]
			sym := paperSymbol(delta)
			tail := max(63-sym, 0)
			if w.bits+int(p.lengths[sym])+tail <= 8*paperBlock {
				w.write(codes[sym], int(p.lengths[sym]))
				w.write(delta&(1<<tail-1), tail)
				count++
				continue
			}
			flush()
		}
		w.write(key, 64)
		count++
	}
	flush()
	return p
}

// size counts blocks, their directory (last key, as the paper finds a block by) and the code.
func (p *paperRun) size() int { return len(p.blocks) + 8*len(p.counts) + len(p.lengths) }

func (p *paperRun) decode() []uint64 {
	codes := canonicalCodes(p.lengths)
	var keys []uint64
	for b, count := range p.counts {
		r := bitReader{data: p.blocks[b*paperBlock : (b+1)*paperBlock]}
		key := r.read(64)
		keys = append(keys, key)
		for range count - 1 {
			sym := r.symbol(codes, p.lengths)
			if sym < 64 {
				tail := 63 - sym
				key ^= 1<<tail | r.read(tail)
			}
			keys = append(keys, key)
		}
	}
	return keys
}

func huffmanLengths(freq []int) (lengths [65]uint8) {
	type node struct {
		weight  int
		symbols []int
	}
	var nodes []node
	for s, f := range freq {
		if f > 0 {
			nodes = append(nodes, node{f, []int{s}})
		}
	}
	if len(nodes) == 1 {
		lengths[nodes[0].symbols[0]] = 1
	}
	for len(nodes) > 1 {
		slices.SortStableFunc(nodes, func(a, b node) int { return cmp.Compare(b.weight, a.weight) })
		a, b := nodes[len(nodes)-1], nodes[len(nodes)-2]
		both := append(slices.Clone(a.symbols), b.symbols...)
		for _, s := range both {
			lengths[s]++
		}
		nodes = append(nodes[:len(nodes)-2], node{a.weight + b.weight, both})
	}
	return lengths
}

// canonicalCodes gives codes of equal length consecutive values, most significant bit first.
func canonicalCodes(lengths [65]uint8) (codes [65]uint64) {
	code := uint64(0)
	for n := uint8(1); n <= 64; n++ {
		for s, l := range lengths {
			if l == n {
				codes[s] = code
				code++
			}
		}
		code <<= 1
	}
	return codes
}

type bitWriter struct {
	out  []byte
	bits int
}

func (w *bitWriter) write(v uint64, n int) {
	for ; n > 0; n-- {
		if w.bits&7 == 0 {
			w.out = append(w.out, 0)
		}
		w.out[w.bits>>3] |= byte(v>>(n-1)&1) << (7 - w.bits&7)
		w.bits++
	}
}

func (w *bitWriter) finish(size int) []byte { return append(w.out, make([]byte, size-len(w.out))...) }

type bitReader struct {
	data []byte
	at   int
}

func (r *bitReader) read(n int) (v uint64) {
	for ; n > 0; n-- {
		v = v<<1 | uint64(r.data[r.at>>3]>>(7-r.at&7)&1)
		r.at++
	}
	return v
}

func (r *bitReader) symbol(codes [65]uint64, lengths [65]uint8) int {
	code := uint64(0)
	for n := uint8(1); ; n++ {
		code = code<<1 | r.read(1)
		for s, l := range lengths {
			if l == n && codes[s] == code {
				return s
			}
		}
	}
}

func TestPaperCodecRoundTrip(t *testing.T) {
	eachKeys(t, func(t *testing.T, _ *rand.Rand, keys []uint64) {
		if got := encodePaper(keys).decode(); !slices.Equal(got, keys) {
			t.Fatalf("%d keys come back as %d others", len(keys), len(got))
		}
	})
}

// informationBound returns log2(C(2^64, n)) / n: no code takes fewer bits a key on n uniform keys.
func informationBound(n int) float64 {
	// C(2^64, n) is 2^(64 n) / n! except for a factor that is below 1e-5 bits a key here.
	lg, _ := math.Lgamma(float64(n) + 1)
	return 64 - lg/math.Ln2/float64(n)
}

func uniformKeys(n int) []uint64 {
	r := rand.New(rand.NewPCG(42, 42))
	keys := keytest.Fill(n, func(int) uint64 { return r.Uint64() })
	slices.Sort(keys)
	return keys
}

// BenchmarkKeyRunSize prints the bits a key takes, with the information bound and the paper's
// codec.
func BenchmarkKeyRunSize(b *testing.B) {
	for _, n := range []int{1_000_000, 10_000_000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			keys := uniformKeys(n)
			paper := encodePaper(keys)
			size := 0
			for b.Loop() {
				body, dir := Encode(keys)
				size = len(body) + len(dir)
			}
			b.ReportMetric(float64(8*size)/float64(n), "bits/key")
			b.ReportMetric(float64(8*paper.size())/float64(n), "paper-bits/key")
			b.ReportMetric(informationBound(n), "bound-bits/key")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/key")
		})
	}
}

// TestKeyRunSize pins what a million uniform keys may take; at ten million, BenchmarkKeyRunSize,
// the same overhead applies.
func TestKeyRunSize(t *testing.T) {
	const n = 1_000_000
	r := mustOpenRun(t, uniformKeys(n))
	s := r.Stats()
	sums := 8 * float64(sumsSize*s.Blocks) / n // what lets a search verify a part of a block
	if over := (s.BitsPerValue() - sums) / informationBound(n); over > 1.024 || sums > 0.251 {
		t.Errorf("%.2f bits a key, %.2f %% over the bound, and %.2f of parts", s.BitsPerValue()-sums, 100*(over-1), sums)
	}
	if s.Low+s.High+s.Directory+s.Checksums != s.Bytes || s.Values != n || s.Paired != 0 {
		t.Errorf("the parts do not add up: %+v", s)
	}
	// Keys that repeat must not cost more than the ones they repeat.
	for _, shape := range keytest.Shapes {
		keys := shape.Make(keytest.Rand(shape.Name, n), n)
		slices.Sort(keys)
		if bits := mustOpenRun(t, keys).Stats().BitsPerValue(); bits > s.BitsPerValue()+0.1 {
			t.Errorf("%s: %.2f bits a key, uniform ones %.2f", shape.Name, bits, s.BitsPerValue())
		}
	}
}
