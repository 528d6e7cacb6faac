package sstable

import "github.com/simdb/simdb/internal/base"

// Fingerprint is the SimHash of a document (package simhash): FingerprintBits bits, of which
// near-duplicates differ in few.
type Fingerprint = base.Fingerprint

// FingerprintBits is the number of bits of a fingerprint, and so the greatest distance of two.
const FingerprintBits = base.FingerprintBits

// FingerprintBlocks calls fn with the fingerprints of all documents that have one, in order and a
// block of at most 512 at a time: fps[i], valid until fn returns, is that of document first+i. It
// stops at the first error, which it returns. It decodes the first run and reads nothing else.
func (r *Reader) FingerprintBlocks(fn func(first uint32, fps []Fingerprint) error) (err error) {
	defer r.unguard(guard(), &err)
	return r.runs[0].EachBlock(func(pos int, keys []uint64) error { return fn(uint32(pos), keys) })
}
