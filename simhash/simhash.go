package simhash

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/simdb/simdb/internal/kernel"
)

// MaxWords is the length in 64-bit words of the longest fingerprint, of 4096 bits.
const MaxWords = 64

// Accumulator counts the votes of a set of feature hashes that arrive in parts.
type Accumulator struct {
	n      uint64
	counts []uint32 // of each bit
	once   []uint32 // scratch: counts before they are multiplied by a weight; nil until it is used
}

// NewAccumulator returns an Accumulator without features, for fingerprints of 1 to MaxWords words.
func NewAccumulator(words int) *Accumulator {
	checkWords(words)
	return &Accumulator{counts: make([]uint32, 64*words)}
}

// Reset forgets all features.
func (a *Accumulator) Reset() {
	a.n = 0
	clear(a.counts)
}

// Add lets hashes vote. They must not have voted before. There must be fewer than 2^32 in all.
func (a *Accumulator) Add(hashes []uint64) {
	a.n += uint64(len(hashes))
	kernel.CountWide(a.counts, hashes)
}

// AddWeighted lets hashes vote, each as often as weight says, which must be positive. They must not
// have voted before. The votes must be fewer than 2^32 in all.
func (a *Accumulator) AddWeighted(hashes []uint64, weight int) {
	if weight == 1 {
		a.Add(hashes)
		return
	}
	if a.once == nil {
		a.once = make([]uint32, len(a.counts))
	}
	clear(a.once)
	kernel.CountWide(a.once, hashes)
	for i, c := range a.once {
		a.counts[i] += c * uint32(weight)
	}
	a.n += uint64(len(hashes)) * uint64(weight)
}

// Len returns how many votes there were, one for each hash that has weight 1.
func (a *Accumulator) Len() int { return int(a.n) }

// Sum stores the fingerprint of the features so far to dst, which has as many words: for weights of
// 1 it is that of the function Sum, else that of SumWeighted.
func (a *Accumulator) Sum(dst []uint64) {
	for j := range dst {
		dst[j] = majority((*[64]uint32)(a.counts[64*j:]), a.n)
	}
}

// Sum64 returns the 64-bit SimHash of a set of feature hashes: bit i is set if more than half
// of the hashes have it set; a tie sets the odd bits and clears the even ones, so that ties
// favour neither value. The hashes must be distinct: one that is repeated votes again. There
// must be fewer than 2^32.
func Sum64(hashes []uint64) uint64 {
	var counts [64]uint32
	kernel.Count64(&counts, hashes)
	return majority(&counts, uint64(len(hashes)))
}

// Sum stores the SimHash of a set of feature hashes, of 64*len(dst) bits, to dst, least significant
// word first; dst has 1 to MaxWords words. The votes of a feature for word 0 are its hash, so that
// dst[0] is Sum64(hashes), and for word j > 0 they are the j-th output of the SplitMix64 generator
// seeded with it. Everything else is as for Sum64.
func Sum(dst []uint64, hashes []uint64) {
	checkWords(len(dst))
	var small [16 * 64]uint32
	a := Accumulator{counts: small[:min(64*len(dst), len(small))]}
	if len(dst) > len(small)/64 {
		a.counts = make([]uint32, 64*len(dst))
	}
	a.Add(hashes)
	a.Sum(dst)
}

// majority returns the bits that more than half of n hashes have set, n below 2^32, given how many
// have each; ties are as Sum64 says.
//
// An even bit is set from n/2+1 votes on and an odd bit from (n+1)/2 on. Two counts are compared at
// a time, in the halves of an integer: from a count with a 1 put before it, which it has room for
// if n is below 2^31, the bound can be subtracted without a borrow from the other half, and the 1
// remains if the count is not less.
func majority(counts *[64]uint32, n uint64) uint64 {
	const tops = 1<<63 | 1<<31
	if n > math.MaxInt32 {
		return majorityLarge(counts, n)
	}
	bound := (n/2 + 1) | (n+1)/2<<32
	var fp uint64 // even bits in the low half, odd bits in the high half
	for i := 0; i < 32; i += 4 {
		c := (*[8]uint32)(counts[2*i:])
		four := ((uint64(c[0])|uint64(c[1])<<32|tops)-bound)&tops>>31 |
			((uint64(c[2])|uint64(c[3])<<32|tops)-bound)&tops>>30 |
			((uint64(c[4])|uint64(c[5])<<32|tops)-bound)&tops>>29 |
			((uint64(c[6])|uint64(c[7])<<32|tops)-bound)&tops>>28
		fp |= four << i
	}
	return interleave(fp)
}

// interleave returns the bits of the low half of x in the even positions and those of the high half
// in the odd ones: a perfect shuffle, in five steps that each swap the middle quarters of halves,
// of quarters, ... of four bits.
func interleave(x uint64) uint64 {
	for _, s := range [...]struct {
		mask  uint64
		shift int
	}{{0x00000000ffff0000, 16}, {0x0000ff000000ff00, 8}, {0x00f000f000f000f0, 4}, {0x0c0c0c0c0c0c0c0c, 2}, {0x2222222222222222, 1}} {
		t := (x ^ x>>s.shift) & s.mask
		x ^= t ^ t<<s.shift
	}
	return x
}

// majorityLarge is majority for any n.
func majorityLarge(counts *[64]uint32, n uint64) (fp uint64) {
	for i, c := range counts {
		fp |= (n - 2*uint64(c) - uint64(i&1)) >> 63 << i // the sign of n - 2c - (i odd)
	}
	return fp
}

// SumWeighted64 returns the 64-bit SimHash of features with weights: bit i is set if the weights of
// the hashes that have it set are more than half of the sum of all weights, with ties as for Sum64.
// A weight may be negative. Weights are integers, so that the fingerprint does not depend on the
// order of the features; scale fractions. The same hash may occur more than once: its weights add
// up. It panics unless there is one weight for each hash.
func SumWeighted64(hashes []uint64, weights []int32) uint64 {
	var dst [1]uint64
	SumWeighted(dst[:], hashes, weights)
	return dst[0]
}

// SumWeighted is to SumWeighted64 what Sum is to Sum64.
func SumWeighted(dst []uint64, hashes []uint64, weights []int32) {
	checkWords(len(dst))
	if len(hashes) != len(weights) {
		panic(fmt.Sprintf("simhash: %d hashes with %d weights", len(hashes), len(weights)))
	}
	total := int64(0)
	for _, w := range weights {
		total += int64(w)
	}
	for j := range dst {
		var sums [64]int64
		for i, h := range hashes {
			row, w := kernel.RowWord(h, j), int64(weights[i])
			for p := range sums {
				sums[p] += w & -int64(row>>p&1)
			}
		}
		dst[j] = 0
		for i, s := range sums {
			dst[j] |= uint64(total-2*s-int64(i&1)) >> 63 << i
		}
	}
}

// checkWords panics for fingerprints of other lengths than 1 to MaxWords words.
func checkWords(n int) {
	if n < 1 || n > MaxWords {
		panic(fmt.Sprintf("simhash: a fingerprint of %d words: want 1 to %d", n, MaxWords))
	}
}

// Distance returns the Hamming distance of two 64-bit fingerprints: the number of bits in which
// they differ.
func Distance(a, b uint64) int { return bits.OnesCount64(a ^ b) }

// DistanceWide returns the Hamming distance of two fingerprints with the same number of words.
// It panics if b is shorter.
func DistanceWide(a, b []uint64) (d int) {
	b = b[:len(a)]
	for i, w := range a {
		d += bits.OnesCount64(w ^ b[i])
	}
	return d
}

// FractionEqual returns the fraction of the 64 bits that two fingerprints have in common, in [0,1].
func FractionEqual(a, b uint64) float64 { return 1 - float64(Distance(a, b))/64 }

// Cosine estimates the cosine similarity of two sets of features, with its standard error, from
// the Hamming distance of their fingerprints of the given number of bits. A bit differs with
// probability angle / pi. A distance of 0 does not mean that the error is 0: it is then that of
// distance 1, and at the other end that of bits - 1.
//
// For sets without weights the cosine is |A n B| / sqrt(|A| |B|).
func Cosine(distance, bits int) (cosine, stderr float64) {
	p := float64(distance) / float64(bits)
	q := min(max(p, 1/float64(bits)), 1-1/float64(bits))
	return math.Cos(math.Pi * p), math.Pi * math.Sin(math.Pi*q) * math.Sqrt(q*(1-q)/float64(bits))
}
