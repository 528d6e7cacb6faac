package base

import (
	"encoding/binary"
	"math/bits"
)

// Fingerprint is the SimHash of a document. It has FingerprintBits bits; near-duplicates differ in
// only a few. Package simhash computes it.
//
// It is an alias, so that the public API uses plain uint64 values. Code that handles fingerprints
// uses this name and the constants and functions of this file instead of uint64, 64 and math/bits.
// Code that depends on 64-bit words (the kernels, the bit layouts) says so.
type Fingerprint = uint64

const (
	// FingerprintBits is the number of bits of a fingerprint, and therefore the largest distance
	// between two.
	FingerprintBits = 64

	// FingerprintBytes is the size of an encoded fingerprint in bytes (AppendFingerprint).
	FingerprintBytes = FingerprintBits / 8

	// FingerprintDigits is the number of hexadecimal digits of a fingerprint written as text.
	FingerprintDigits = FingerprintBits / 4
)

// Distance returns the Hamming distance of two fingerprints: the number of different bits, 0 to
// FingerprintBits.
func Distance(a, b Fingerprint) int { return bits.OnesCount64(a ^ b) }

// AppendFingerprint appends the FingerprintBytes bytes of fp in the order of the file formats,
// least significant first.
func AppendFingerprint(dst []byte, fp Fingerprint) []byte {
	return binary.LittleEndian.AppendUint64(dst, fp)
}

// DecodeFingerprint is the inverse of AppendFingerprint. It panics if b has less than
// FingerprintBytes bytes.
func DecodeFingerprint(b []byte) Fingerprint { return binary.LittleEndian.Uint64(b) }
