package token

import (
	"encoding/binary"
	"math/bits"

	"github.com/simdb/simdb/internal/kernel"
)

// Constants of the hash function. They are part of the format of stored fingerprints and must not
// change.
const (
	golden   = 0x9e3779b97f4a7c15 // the SplitMix64 increment
	power    = 0xbea225f9eb34556d // P, the base of the polynomial over the words of a shingle
	finalMul = 0xd6e8feb86659fd93 // the multiplier of the finalizer
	lowCase  = 0x2020202020202020 // maps A-Z to a-z, and leaves a-z and 0-9 unchanged
)

// Hasher is the hash function of words and shingles for one seed; NewHasher makes it.
type Hasher struct {
	k0, k1 uint64
}

// NewHasher returns the hash function of a seed. Fingerprints and sketches are comparable only if
// their seeds are equal.
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

// Mix is the output function of SplitMix64. It maps different inputs to unrelated numbers.
func Mix(x uint64) uint64 { return splitMix(x) }

// fold multiplies to 128 bits and combines the halves by XOR.
func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// Word returns the hash of a word given as lower-cased UTF-8.
//
// The bytes are padded with zeros to 16-byte chunks of two little-endian integers a, b, and each
// chunk is folded in: h = fold(a ^ k0, b ^ h), starting with h = k1. A word has no zero byte, so
// the padding is unambiguous and no length is needed, and a word of up to 16 bytes needs a single
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

// finish turns the polynomial of the words of a shingle (see poly) into the hash of the shingle.
func finish(s uint64) uint64 {
	s = (s ^ s>>32) * finalMul
	return s ^ s>>29
}

// Feature returns the hash of a feature that is not a shingle. It may have any bytes. Their number
// is included in the hash, because they may end in zeros.
func (h Hasher) Feature(feature []byte) uint64 { return finish(h.Word(feature) + uint64(len(feature))) }

// poly has the parameters of shingle hashes for the kernels: a hash is finish(w[0] P^(k-1) + ... +
// w[k-1]), modulo 2^64, for the hashes w of k words. Word boundaries matter because words are
// hashed separately ("ab c" is not "a bc"). Their order matters because P is not 1. Advancing by a
// word needs two multiplications for any k.
var poly = kernel.Poly{Base: power, Mul: finalMul}
