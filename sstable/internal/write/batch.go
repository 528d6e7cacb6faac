package write

import (
	"github.com/simdb/simdb/sstable/internal/table"
)

// A Batch is the documents of a table, in columns. Of documents with equal
// IDs the last counts, and the others are left out. A document takes 12 bytes and its ID, and with
// text and sketch 8 bytes more.
type Batch struct {
	Seqs     []uint64 // sequence number of each document; nil: that of document i is FirstSeq + i
	FirstSeq uint64

	Fingerprints []uint64   // of each document; any value for those in Bare
	Rest         [][]uint64 // the words of fingerprints after the first: a column a word
	Bare         []uint64   // the documents without a fingerprint: bit i%64 of word i/64; may be short
	IDs          []uint32   // of each document, the number of its ID in Strings
	Strings      *Arena     // has the IDs

	Times []int64 // of each document, in microseconds since the Unix epoch; nil: all are Time
	Time  int64

	Records  []uint32 // of each document, what AddRecords counted, or NoRecord; nil: none has one
	Sketches []uint32 // of each document, the number of its encoded sketch in Codes; nil: none has one
	Codes    *Arena   // has the encoded sketches, an empty string for none
}

// AddRest adds the other words of the next fingerprint; none stands for zeros.
func (b *Batch) AddRest(words []uint64) {
	for i := range b.Rest {
		word := uint64(0)
		if i < len(words) {
			word = words[i]
		}
		b.Rest[i] = append(b.Rest[i], word)
	}
}

// MaxBatch is the most documents of a Batch.
const MaxBatch = 1 << (64 - table.IDBits)

// NoRecord is in the place of a record's number for a document that has none.
const NoRecord = 1<<32 - 1

// Len returns the number of documents, with those that are left out.
func (b *Batch) Len() int { return len(b.IDs) }

// isBare reports whether document i has no fingerprint.
func (b *Batch) isBare(i uint32) bool {
	return int(i>>6) < len(b.Bare) && Bitset(b.Bare).Has(i)
}

// ID returns the ID of document i.
func (b *Batch) ID(i uint32) []byte { return b.Strings.Get(b.IDs[i]) }
