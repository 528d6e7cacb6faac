package write

import (
	"encoding/binary"

	"github.com/simdb/simdb/internal/oddsketch"
	"github.com/simdb/simdb/internal/table/internal/format"
)

// A Batch has the documents of a table, in columns. If several documents have the same ID, the last
// one wins and the others are left out. A document occupies 12 bytes plus its ID, and 8 bytes more
// with a text and a sketch.
type Batch struct {
	Seqs     []uint64 // by document: sequence number; nil: document i has FirstSeq + i
	FirstSeq uint64

	Fingerprints []uint64   // by document; ignored for those in Bare
	Rest         [][]uint64 // the later words of fingerprints, a column for each word
	Bare         []uint64   // bit set of the documents without a fingerprint; may be short
	IDs          []uint32   // by document: the number of its ID in Strings
	Strings      *Arena     // the IDs

	Times []int64 // by document, in microseconds since the Unix epoch; nil: all are Time
	Time  int64
	// Expiries are by document, in microseconds, 0 for never; nil, or shorter: the others never expire.
	Expiries []int64

	Records  []uint32 // by document: number from AddRecords, or NoRecord; nil: none has one
	Sketches []uint32 // by document: the number of its sketch in Codes; nil: none has one
	Codes    *Arena   // the encoded sketches, each with Params.Odd after AppendOdd; an empty string for none
}

// oddSize is the length of an odd sketch before an encoded sketch.
const oddSize = 32

// AppendOdd appends an odd sketch in the form in which it stands before an encoded sketch.
func AppendOdd(dst []byte, odd *oddsketch.Sketch) []byte {
	for _, word := range odd {
		dst = binary.LittleEndian.AppendUint64(dst, word)
	}
	return dst
}

// AddRest adds the later words of the next fingerprint; missing words are zero.
func (b *Batch) AddRest(words []uint64) {
	for i := range b.Rest {
		word := uint64(0)
		if i < len(words) {
			word = words[i]
		}
		b.Rest[i] = append(b.Rest[i], word)
	}
}

// MaxBatch is the maximum number of documents in a Batch.
const MaxBatch = 1 << (64 - format.IDBits)

// NoRecord is the record number of a document without a record.
const NoRecord = 1<<32 - 1

// Len returns the number of documents, including those that are left out.
func (b *Batch) Len() int { return len(b.IDs) }

// isBare reports whether document i has no fingerprint.
func (b *Batch) isBare(i uint32) bool {
	return int(i>>6) < len(b.Bare) && Bitset(b.Bare).Has(i)
}

// ID returns the ID of document i.
func (b *Batch) ID(i uint32) []byte { return b.Strings.Get(b.IDs[i]) }
