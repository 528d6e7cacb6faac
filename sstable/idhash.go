package sstable

import (
	"github.com/zeebo/xxh3"
)

// idBits is how many bits of the hash of an ID a table keeps. It is the same in all tables, so that
// their runs of hashes can be merged; of 4 billion documents it leaves 1 in 64 lookups of an ID
// that is not there a name to compare.
const idBits = 38

// HashID returns the hash of an ID that KindIDs is sorted by: the upper 38 bits of xxh3-64, seed 0,
// the other bits zero. It is part of the format.
func HashID(id []byte) uint64 { return xxh3.Hash(id) >> (64 - idBits) << (64 - idBits) }

// An idHash says how a table hashes IDs: its run of IDs (KindIDs) holds key(id) of each. Every
// method that searches that run uses the idHash of its table, and code that combines several tables
// compares their idHashes first.
type idHash struct {
	seed uint64 // of xxh3-64
	drop int    // low bits of the hash that the run does not keep, 0..63
}

// idHashes returns the idHash of the tables of each format version: it is part of the format.
var idHashes = map[uint32]func(*Info) idHash{
	2: func(*Info) idHash { return idHash{drop: 64 - idBits} },
}

// key returns what the run of IDs holds for an ID. IDs of equal keys may differ.
func (h idHash) key(id []byte) uint64 {
	if h.seed == 0 {
		return xxh3.Hash(id) >> (h.drop & 63)
	}
	return xxh3.HashSeed(id, h.seed) >> (h.drop & 63)
}

// isHashID reports whether the keys are those of HashID, without the bits that are zero.
func (h idHash) isHashID() bool { return h == idHash{drop: 64 - idBits} }
