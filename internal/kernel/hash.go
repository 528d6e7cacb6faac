package kernel

import (
	"math/bits"
)

// WordGroup is the number of words that HashWords processes at a time. WordMax is the length of the
// longest word that it hashes.
const (
	WordGroup = 8
	WordMax   = 16
)

// HashWords stores in dst[i] the hash of the word text[edges[2*i]:edges[2*i+1]] of ASCII letters
// and digits. The bytes are lower-cased and padded with zeros to two little-endian integers a and
// b; the hash is the XOR of the halves of the 128-bit product (a^k0)(b^k1). HashWords processes
// groups of WordGroup words. It stops before the first group that is incomplete or has a word
// longer than WordMax, and returns the number of words hashed; elements of dst after these may be
// overwritten. Without a kernel, it returns 0.
//
// edges must be ascending, and text must continue for WordMax bytes after the last edge.
func HashWords(dst []uint64, text []byte, edges []uint16, k0, k1 uint64) int {
	groups := len(dst) / WordGroup
	if groups == 0 || at.hashWords == Go {
		return 0
	}
	edges = edges[:2*WordGroup*groups]
	_ = text[:int(edges[len(edges)-1])+WordMax]
	return hashWordsAsm(dst[:groups*WordGroup], text, edges, k0, k1)
}

// HasHashWords reports whether HashWords has a kernel.
func HasHashWords() bool { return at.hashWords != Go }

// Poly defines how the hashes of words are combined into the hash of a shingle. The polynomial w[0]
// Base^(k-1) + ... + w[k-1] modulo 2^64 is finalised by s -> (s ^ s>>32) * Mul -> s ^ s>>29.
type Poly struct {
	Base, Mul uint64
}

// finish turns the polynomial into the hash.
func (p Poly) finish(s uint64) uint64 {
	s = (s ^ s>>32) * p.Mul
	return s ^ s>>29
}

// maxHorner is the largest number of words for which computing a shingle from its words, eight
// shingles at a time, is faster than computing it from the previous shingle.
const maxHorner = 16

// Shingles stores in dst the hash of each k consecutive words. It returns the number of hashes:
// len(words)-k+1, or 0 if that is negative. It panics if dst is too short or k is not positive.
func (p Poly) Shingles(dst, words []uint64, k int) int {
	if k <= 0 {
		panic("kernel: a shingle needs a word")
	}
	n := len(words) - k + 1
	if n <= 0 {
		return 0
	}
	dst = dst[:n]
	done := 0
	if at.shingles != Go && k <= maxHorner && n >= 8 {
		done = shinglesAsm(dst, words, k, p)
	}
	p.shinglesGo(dst[done:], words[done:], k)
	return n
}

// shinglesGo is Shingles in pure Go; len(dst) must be len(words)-k+1.
func (p Poly) shinglesGo(dst, words []uint64, k int) {
	switch {
	case len(dst) == 0:
	case k == 1:
		for i, w := range words[:len(dst)] {
			dst[i] = p.finish(w)
		}
	case k == 3:
		square := p.Base * p.Base
		w1, w2 := words[1:][:len(dst)], words[2:][:len(dst)]
		for i, w0 := range words[:len(dst)] {
			dst[i] = p.finish(w0*square + w1[i]*p.Base + w2[i])
		}
	default:
		p.roll(dst, words, k)
	}
}

// roll computes each polynomial from the previous one with two multiplications, for any k.
func (p Poly) roll(dst, words []uint64, k int) {
	out := uint64(1) // Base^k, the weight of the word that is dropped
	s := uint64(0)
	for _, w := range words[:k] {
		out *= p.Base
		s = s*p.Base + w
	}
	dst[0] = p.finish(s)
	for i, w := range words[k:] {
		s = s*p.Base + w - words[i]*out
		dst[i+1] = p.finish(s)
	}
}

// Below stores in dst, in order, those upper halves of hashes that are below limit, and returns
// their number. It may overwrite any of the first len(hashes) elements of dst, and panics if dst is
// shorter.
func Below(dst []uint32, hashes []uint64, limit uint64) int {
	dst = dst[:len(hashes)]
	n, done := 0, 0
	if at.below != Go && len(hashes) >= 8 {
		n, done = belowAsm(dst, hashes, limit)
	}
	return n + belowGo(dst[n:], hashes[done:], limit)
}

// belowGo is Below in pure Go. It does not branch on the hashes.
func belowGo(dst []uint32, hashes []uint64, limit uint64) (n int) {
	limit = min(limit, 1<<32)
	for _, h := range hashes {
		dst[n] = uint32(h >> 32)
		_, below := bits.Sub64(h>>32, limit, 0)
		n += int(below)
	}
	return n
}
