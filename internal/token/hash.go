package token

import (
	"encoding/binary"
	"math/bits"

	"github.com/simdb/simdb/internal/kernel"
)

// Constants of the hash. They are part of every stored fingerprint and must not change.
const (
	golden   = 0x9e3779b97f4a7c15 // the SplitMix64 increment
	power    = 0xbea225f9eb34556d // P, the base of the polynomial over the words of a shingle
	finalMul = 0xd6e8feb86659fd93 // the multiplier of the finalizer
	lowCase  = 0x2020202020202020 // maps A-Z to a-z and leaves a-z and 0-9 as they are
)

// Hasher is the hash function of words and shingles for one seed; make it with NewHasher.
type Hasher struct {
	k0, k1 uint64
}

// NewHasher returns the hash function of a seed. Fingerprints and sketches compare only under equal
// seeds.
func NewHasher(seed uint64) Hasher {
	seed += golden
	return Hasher{k0: splitMix(seed), k1: splitMix(seed+golden) | 1}
}

// splitMix is the output function of SplitMix64 (Steele, Lea, Flood 2014).
func splitMix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Mix is the output function of SplitMix64: of equal inputs equal, of others unrelated numbers.
func Mix(x uint64) uint64 { return splitMix(x) }

// fold multiplies to 128 bits and folds the halves together.
func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// Word returns the hash of a word given as lower-cased UTF-8.
//
// The bytes are padded with zeros to 16-byte chunks of two little-endian integers a, b, and each
// chunk is folded in: h = fold(a ^ k0, b ^ h), from h = k1. A word holds no zero byte, so the
// padding is unambiguous and no length is needed, and a word of up to 16 bytes takes a single
// multiplication.
func (h Hasher) Word(lower []byte) uint64 {
	v := h.k1
	for len(lower) > 16 {
		v = fold(binary.LittleEndian.Uint64(lower)^h.k0, binary.LittleEndian.Uint64(lower[8:])^v)
		lower = lower[16:]
	}
	var last [16]byte
	copy(last[:], lower)
	return fold(binary.LittleEndian.Uint64(last[:])^h.k0, binary.LittleEndian.Uint64(last[8:])^v)
}

// finish turns the polynomial of the words of a shingle, see poly, into the hash of the shingle.
func finish(s uint64) uint64 {
	s = (s ^ s>>32) * finalMul
	return s ^ s>>29
}

// Feature returns the hash of a feature that is not a shingle: of any bytes. Their number takes
// part, since they may end in zeros.
func (h Hasher) Feature(feature []byte) uint64 { return finish(h.Word(feature) + uint64(len(feature))) }

// poly is the hash of a shingle as the kernels know it: finish(w[0] P^(k-1) + ... + w[k-1]) for the
// hashes w of k words, modulo 2^64. Words are kept apart by their hashes ("ab c" is not "a bc"),
// the order counts because P is not 1, and moving on by a word takes two multiplications whatever k
// is.
var poly = kernel.Poly{Base: power, Mul: finalMul}
