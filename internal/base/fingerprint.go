package base

import (
	"encoding/binary"
	"math/bits"
)

// Fingerprint is the SimHash of a document: FingerprintBits bits of which near-duplicates differ in
// few. Package simhash computes it.
//
// It is an alias, so that the public API takes and returns plain uint64 values. Code that handles
// fingerprints uses this name, the constants and the functions beside it instead of uint64, 64 and
// math/bits; what really needs 64-bit words (the kernels, the bit layouts) says so where it does.
type Fingerprint = uint64

const (
	// FingerprintBits is the number of bits of a fingerprint, and so the greatest distance of two.
	FingerprintBits = 64

	// FingerprintBytes is the size of an encoded fingerprint in bytes (AppendFingerprint).
	FingerprintBytes = FingerprintBits / 8

	// FingerprintDigits is the number of hexadecimal digits of a fingerprint written as text.
	FingerprintDigits = FingerprintBits / 4
)

// Distance returns the Hamming distance of two fingerprints: the number of bits in which they
// differ, 0 to FingerprintBits.
func Distance(a, b Fingerprint) int { return bits.OnesCount64(a ^ b) }

// AppendFingerprint appends the FingerprintBytes bytes of fp, the least significant first, as the
// file formats have them.
func AppendFingerprint(dst []byte, fp Fingerprint) []byte {
	return binary.LittleEndian.AppendUint64(dst, fp)
}

// DecodeFingerprint returns the fingerprint in the first FingerprintBytes bytes of b, as appended
// by AppendFingerprint. It panics if b is shorter.
func DecodeFingerprint(b []byte) Fingerprint { return binary.LittleEndian.Uint64(b) }
