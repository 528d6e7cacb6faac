// Package simhash computes SimHash fingerprints: short bit strings whose Hamming distance follows the angle between
// the feature sets they were made from (Charikar, "Similarity Estimation Techniques from Rounding Algorithms",
// STOC 2002; used for near-duplicate web pages by Manku, Jain, Das Sarma, WWW 2007).
package simhash

import (
	"math/bits"
	"slices"

	"github.com/simdb/simdb/internal/token"
)

// Text returns the 64-bit SimHash of the set of k-word shingles of text (tokenizer version 1, seed 0). ok is false,
// and the fingerprint meaningless, if text has no words. k must be positive; 3 is usual.
func Text(text string, k int) (fp uint64, ok bool) {
	var all collector
	token.NewShingler(k, 0).Text(text, &all)
	slices.Sort(all)
	return Sum64(slices.Compact(all)), len(all) > 0
}

// collector keeps all shingles of a text.
type collector []uint64

func (c *collector) Shingles(hashes []uint64) { *c = append(*c, hashes...) }

// Sum64 returns the 64-bit SimHash of a set of feature hashes: bit i is set if more than half of the hashes have it
// set; a tie sets the odd bits and clears the even ones, so that ties favour neither. The hashes must be distinct: a
// repeated one votes again.
func Sum64(hashes []uint64) uint64 {
	var counts [64]uint32
	for _, h := range hashes {
		for i := range counts {
			counts[i] += uint32(h >> i & 1)
		}
	}
	var fp uint64
	for i, c := range counts {
		if 2*uint64(c)+uint64(i&1) > uint64(len(hashes)) {
			fp |= 1 << i
		}
	}
	return fp
}

// Distance returns the Hamming distance of two 64-bit fingerprints: the number of bits in which they differ.
func Distance(a, b uint64) int { return bits.OnesCount64(a ^ b) }
