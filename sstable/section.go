package sstable

import (
	"fmt"
)

// Kind is what a section holds. Its value is part of the format and must not change.
type Kind uint16

// Kinds of sections.
const (
	KindBlocks   Kind = 1  // blocks of names, documents and sketches, in the order of writing
	KindNames    Kind = 2  // where the blocks of names are
	KindDocs     Kind = 3  // where the blocks of documents are
	KindTimes    Kind = 4  // column of times by document number
	KindSeqs     Kind = 5  // column of sequence numbers by document number
	KindRun      Kind = 6  // key run of the permuted table that Section.Index says
	KindIDs      Kind = 7  // key run of the hashes of IDs
	KindIDDocs   Kind = 8  // column of document numbers by position in KindIDs
	KindSketches Kind = 9  // where the blocks of sketches are
	KindHot      Kind = 10 // list of hot hashes
	KindBitmaps  Kind = 11 // bitmaps of the sketches of a segment
	KindPostings Kind = 12 // key run of the hashes in prefixes of the sketches of a segment
	KindNote     Kind = 13 // what the owner of the table keeps with it; opaque here, optional
	kindUnknown  Kind = 14 // first kind that no version knows
)

// String names the kind as errors and the layout dump do.
func (k Kind) String() string {
	names := [...]string{"", "blocks", "names", "docs", "times", "seqs", "run", "ids", "id-docs",
		"sketches", "hot", "bitmaps", "postings", "note"}
	if k > 0 && k < kindUnknown {
		return names[k]
	}
	return fmt.Sprintf("kind-%d", uint16(k))
}

// Section is a part of the file.
type Section struct {
	Kind Kind
	// number of the permuted table for KindRun; for KindBlocks, KindBitmaps, KindPostings of the
	// segment; else 0
	Index    uint16
	Optional bool   // a reader that does not know the kind may ignore the section
	Offset   int64  // of its first byte in the file, a multiple of 64
	Length   int64  // in bytes
	Count    uint64 // how many things it holds: blocks, keys or values
	Checksum uint32 // CRC32C of all its bytes
}

// Name is what errors call the section: its kind, and the number of a run or a segment.
func (s Section) Name() string {
	if s.Kind == KindRun || s.Kind == KindBitmaps || s.Kind == KindPostings || s.Index > 0 {
		return fmt.Sprintf("%s %d", s.Kind, s.Index)
	}
	return s.Kind.String()
}

// Info is what a table says of itself.
type Info struct {
	Version      uint32 // of the format
	Docs         uint32 // documents
	Fingerprints uint32 // documents with a fingerprint: numbers 0..Fingerprints-1
	Distinct     uint32 // different fingerprints
	// of all documents, microseconds since the Unix epoch; 0 if there are none
	MinTime, MaxTime int64
	MinSeq, MaxSeq   uint64 // of all documents; 0 if there are none
	Size             int64  // bytes of the file
	// CRC32C of the table's directory, which holds checksums of all sections: a digest of the table
	Checksum uint32
	Sections []Section
}

const (
	alignment   = 64      // sections start at multiples of this
	headerSize  = 64      // bytes of the header
	tailSize    = 32      // bytes of the trailer
	maxSections = 1 << 14 // sections a table: three a segment, and a few
	// flag of a section that a reader which does not know its kind may ignore
	optionalFlag = 1
)
