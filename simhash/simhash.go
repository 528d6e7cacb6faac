package simhash

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/simdb/simdb/internal/kernel"
)

// MaxWords is the length of the longest fingerprint, of 4096 bits, in 64-bit words.
const MaxWords = 64

// Accumulator counts the votes of a set of feature hashes that arrive in parts.
type Accumulator struct {
	n      uint64
	counts []uint32 // votes of weight 1 for each bit
	heavy  uint64   // sum of all other weights
	sums   []uint64 // votes with these weights for each bit; nil until needed
}

// voteUnit is the number of units of a vote of weight 1 in Accumulator.sums.
const voteUnit = 1 << 24

// NewAccumulator returns an Accumulator without features, for fingerprints of 1 to MaxWords words.
func NewAccumulator(words int) *Accumulator {
	checkWords(words)
	return &Accumulator{counts: make([]uint32, 64*words)}
}

// Reset discards all features.
func (a *Accumulator) Reset() {
	a.n, a.heavy = 0, 0
	clear(a.counts)
	clear(a.sums)
}

// Add lets hashes vote. They must not have voted before. In all, there must be fewer than 2^32
// votes.
func (a *Accumulator) Add(hashes []uint64) {
	a.n += uint64(len(hashes))
	kernel.CountWide(a.counts, hashes)
}

// AddWeighted lets each hash vote with a weight, which must be positive and is rounded to a multiple
// of 2^-24, so that the result does not depend on the order. The hashes must not have voted before.
// The sum of all weights must be below 2^38.
func (a *Accumulator) AddWeighted(hashes []uint64, weight float64) {
	if weight == 1 {
		a.Add(hashes)
		return
	}
	if a.sums == nil {
		a.sums = make([]uint64, len(a.counts))
	}
	w := uint64(math.Round(weight * voteUnit))
	for _, h := range hashes {
		for j := 0; j < len(a.sums); j += 64 {
			row, sums := kernel.RowWord(h, j/64), (*[64]uint64)(a.sums[j:])
			for p := range sums {
				sums[p] += w & -(row >> p & 1)
			}
		}
	}
	a.heavy += uint64(len(hashes)) * w
}

// Len returns the sum of the weights of all votes, rounded up.
func (a *Accumulator) Len() int { return int(a.n + (a.heavy+voteUnit-1)/voteUnit) }

// Sum stores the fingerprint of the features so far in dst, which must have the Accumulator's
// number of words. If all weights are 1, it is the result of the function Sum, else of SumWeighted.
func (a *Accumulator) Sum(dst []uint64) {
	for j := range dst {
		counts := (*[64]uint32)(a.counts[64*j:])
		if a.heavy == 0 {
			dst[j] = majority(counts, a.n)
			continue
		}
		dst[j] = 0
		for i, c := range counts {
			dst[j] |= (a.n*voteUnit + a.heavy - 2*(uint64(c)*voteUnit+a.sums[64*j+i]) - uint64(i&1)) >> 63 << i
		}
	}
}

// Sum64 returns the 64-bit SimHash of a set of feature hashes: bit i is set if more than half of
// the hashes have it set; a tie sets the odd bits and clears the even ones, so that ties favour
// neither value. The hashes must be distinct: a repeated hash would vote again. There must be fewer
// than 2^32 hashes.
func Sum64(hashes []uint64) uint64 {
	var counts [64]uint32
	kernel.Count64(&counts, hashes)
	return majority(&counts, uint64(len(hashes)))
}

// Sum stores the SimHash of a set of feature hashes, of 64*len(dst) bits, in dst; dst must have 1
// to MaxWords words. The votes of a feature for word 0 are its hash, so dst[0] is Sum64(hashes);
// for word j > 0 they are the j-th output of the SplitMix64 generator seeded with the hash. In all
// other respects Sum does the same as Sum64.
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

// majority returns the bits that more than half of n hashes have set, n below 2^32, given the
// number of hashes that have each bit set. Ties are resolved as in Sum64.
//
// An even bit needs n/2+1 votes and an odd bit (n+1)/2. Two counts are compared at a time, in the
// halves of an integer. Each count has a 1 bit above it, for which there is space if n is below
// 2^31; so the bound can be subtracted without a borrow from the other half, and the 1 remains if
// the count is at least the bound.
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

// interleave moves the bits of the low half of x to the even positions and those of the high half
// to the odd ones: a perfect shuffle in five steps, which swap the middle quarters of halves, of
// quarters, ... of four bits.
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
// the hashes that have it set are more than half of the sum of all weights, with ties as in Sum64.
// A weight may be negative. Weights are integers, so that the fingerprint does not depend on the
// order of the features; scale fractions. The weights of a hash that occurs several times are
// summed. It panics unless there is one weight for each hash.
func SumWeighted64(hashes []uint64, weights []int32) uint64 {
	var dst [1]uint64
	SumWeighted(dst[:], hashes, weights)
	return dst[0]
}

// SumWeighted extends SumWeighted64 to several words, as Sum extends Sum64.
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

// checkWords panics unless fingerprints have 1 to MaxWords words.
func checkWords(n int) {
	if n < 1 || n > MaxWords {
		panic(fmt.Sprintf("simhash: a fingerprint of %d words: want 1 to %d", n, MaxWords))
	}
}

// Distance returns the Hamming distance of two 64-bit fingerprints: the number of bits that differ.
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

// FractionEqual returns the fraction of the 64 bits that are equal in two fingerprints, in [0,1].
func FractionEqual(a, b uint64) float64 { return 1 - float64(Distance(a, b))/64 }

// Cosine estimates the cosine similarity of two feature sets, with its standard error, from the
// Hamming distance of their fingerprints of the given number of bits. A bit differs with
// probability angle / pi. A distance of 0 does not mean that the error is 0, so Cosine returns the
// error for distance 1 instead; likewise, for distance bits the error for bits - 1.
//
// For sets without weights the cosine is |A n B| / sqrt(|A| |B|).
func Cosine(distance, bits int) (cosine, stderr float64) {
	p := float64(distance) / float64(bits)
	q := min(max(p, 1/float64(bits)), 1-1/float64(bits))
	return math.Cos(math.Pi * p), math.Pi * math.Sin(math.Pi*q) * math.Sqrt(q*(1-q)/float64(bits))
}
