package format

import (
	"github.com/zeebo/xxh3"
)

// IDBits is the number of bits of the hash of an ID that a table stores. It is the same in all
// tables, so that their runs of hashes can be merged. Among 4 billion documents, 1 in 64 look-ups
// of an ID that does not exist has to compare a name.
const IDBits = 38

// HashID returns the hash of an ID by which KindIDs is sorted: the upper 38 bits of xxh3-64, seed
// 0; the other bits are zero. It is part of the format.
func HashID(id []byte) uint64 { return IDKey(id) << (64 - IDBits) }

// IDKey returns the key of an ID in the run of IDs: HashID without the zero bits. Different IDs may
// have the same key.
func IDKey(id []byte) uint64 { return xxh3.Hash(id) >> (64 - IDBits) }
