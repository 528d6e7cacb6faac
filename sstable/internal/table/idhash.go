package table

import (
	"github.com/zeebo/xxh3"
)

// IDBits is how many bits of the hash of an ID a table keeps. It is the same in all tables, so that
// their runs of hashes can be merged; of 4 billion documents it leaves 1 in 64 lookups of an ID
// that is not there a name to compare.
const IDBits = 38

// HashID returns the hash of an ID that KindIDs is sorted by: the upper 38 bits of xxh3-64, seed 0,
// the other bits zero. It is part of the format.
func HashID(id []byte) uint64 { return IDKey(id) << (64 - IDBits) }

// IDKey returns what the run of IDs holds for an ID: HashID without the zero bits. IDs of equal
// keys may differ.
func IDKey(id []byte) uint64 { return xxh3.Hash(id) >> (64 - IDBits) }
