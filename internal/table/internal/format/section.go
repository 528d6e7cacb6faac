package format

import (
	"errors"
	"fmt"

	"github.com/simdb/simdb/internal/table/internal/hamming"
)

// Kind says what a section contains. Its value is part of the format and must not change.
type Kind uint16

// Kinds of sections.
const (
	KindBlocks     Kind = 1  // blocks of names, records and sketches, in the order of writing
	KindNames      Kind = 2  // directory of the blocks of names
	KindRecords    Kind = 3  // directory of the blocks of records: texts with their fields
	KindTimes      Kind = 4  // columns of times and of expiries by rank
	KindSeqs       Kind = 5  // key run of sequence numbers by rank
	KindRun        Kind = 6  // key run of the permuted table given by Section.Index
	KindIDs        Kind = 7  // key run of the hashes of IDs, with document numbers
	KindRanks      Kind = 8  // column of ranks by document number; absent if they are equal
	KindSketches   Kind = 9  // directory of the blocks of sketches
	KindHot        Kind = 10 // list of hot hashes
	KindBitmaps    Kind = 11 // bitmaps of the sketches of a segment
	KindPostings   Kind = 12 // key run of the hashes in prefixes of the sketches of a segment
	KindNote       Kind = 13 // note of the table's owner; opaque here, optional
	KindPlaces     Kind = 14 // column of record numbers by document; absent if they are equal
	KindTimeSketch Kind = 15 // quantiles of the times, optional
	KindEarly      Kind = 16 // copies of the directories so far
	KindIDBounds   Kind = 17 // a coarser order of IDs, which earlier programs wrote: ignored
	KindIDParts    Kind = 18 // the same
	KindWords      Kind = 19 // column of word Index of the fingerprints, by document
	KindSetSizes   Kind = 20 // column of the sizes of the feature sets, by document
	KindSets       Kind = 21 // key run of the bins of these features, with document numbers
	KindValues     Kind = 22 // list of an indexed field: sorted keys (package fieldidx)
	KindValueDocs  Kind = 23 // column of the documents of these keys
	KindIDOrder    Kind = 24 // column of the documents in the order of their IDs; empty if they are numbered so; optional
	KindSummaries  Kind = 25 // summaries of the directories of runs and columns, optional
	KindUnknown    Kind = 26 // first kind that no version knows

	// DirFlag is set in the kind of a section that is the directory of a key run or a column, whose
	// section has the same kind without the flag and the same index.
	DirFlag Kind = 1 << 15
)

// String returns the name of the kind in errors and in the layout dump.
func (k Kind) String() string {
	names := [...]string{"", "blocks", "names", "records", "times", "seqs", "run", "ids", "ranks",
		"sketches", "hot", "bitmaps", "postings", "note", "places", "time-sketch", "early",
		"id-bounds", "id-parts", "words", "set-sizes", "sets", "values", "value-docs", "id-order", "summaries"}
	if k > 0 && k < KindUnknown {
		return names[k]
	}
	return fmt.Sprintf("kind-%d", uint16(k))
}

// HasDir reports whether sections of a kind have a directory in a separate section.
func (k Kind) HasDir() bool {
	switch k {
	case KindTimes, KindSeqs, KindRun, KindIDs, KindRanks, KindPostings, KindPlaces, KindIDParts, KindWords, KindSetSizes, KindSets, KindValues, KindValueDocs, KindIDOrder:
		return true
	}
	return false
}

// Section is a part of the file.
type Section struct {
	Kind Kind
	// Index is, for KindRun, the RunIndex of the permuted table; for KindWords the word; for
	// KindValues and KindValueDocs the list; for KindTimes and
	// KindTimeSketch 0, or Expiries; for KindBlocks, KindBitmaps and KindPostings the
	// segment; for KindIDParts the stretch; otherwise 0
	Index    uint16
	Optional bool   // a reader that does not know the kind may ignore the section
	Offset   int64  // of its first byte in the file, a multiple of 64
	Length   int64  // in bytes
	Count    uint64 // number of blocks, keys or values
	Checksum uint32 // CRC32C of all its bytes
}

// Name returns the name of the section in errors: its kind, and the number of a run or a segment.
func (s Section) Name() string {
	if kind := s.Kind &^ DirFlag; kind != s.Kind {
		return Section{Kind: kind, Index: s.Index}.Name() + " directory"
	}
	if word := s.Index / hamming.MaxTables; s.Kind == KindRun && word > 0 {
		return fmt.Sprintf("%s %d of word %d", s.Kind, s.Index%hamming.MaxTables, word)
	}
	if s.Kind == KindRun || s.Kind == KindBitmaps || s.Kind == KindPostings || s.Index > 0 {
		return fmt.Sprintf("%s %d", s.Kind, s.Index)
	}
	return s.Kind.String()
}

// RunIndex returns the Section.Index of the run of a permuted table of a word.
func RunIndex(word, table int) uint16 { return uint16(word*hamming.MaxTables + table) }

// Identity identifies a table within its database, so that a lost catalog can be rebuilt. It is all
// zero in a file that belongs to no database, such as a packed one.
type Identity struct {
	Database [16]byte // UUID of the database that the table was written for
	Number   uint64   // of the table in the database
	Created  int64    // when the table was written, microseconds since the Unix epoch
}

// Info describes a table.
type Info struct {
	Version      uint32 // of the format
	Docs         uint32 // documents
	Fingerprints uint32 // documents with a fingerprint: numbers 0..Fingerprints-1
	Distinct     uint32 // different fingerprints
	// of all documents, microseconds since the Unix epoch; 0 if there are none
	MinTime, MaxTime int64
	MinSeq, MaxSeq   uint64 // of all documents; 0 if there are none
	Size             int64  // bytes of the file
	Identity         Identity
	// CRC32C of the directory, which has the checksums of all sections: a digest of the table
	Checksum uint32
	Sections []Section
}

const (
	Alignment   = 64      // sections start at multiples of this
	HeaderSize  = 64      // bytes of the header
	TailSize    = 32      // bytes of the trailer
	MaxSections = 1 << 14 // sections in a table: four per segment, and a few
	// flag of a section that readers may ignore if they do not know its kind
	optionalFlag = 1
)

// SegmentReserve is the maximum number of sections of a table that are neither segments nor runs.
const SegmentReserve = 32

// MaxDocs is the maximum number of documents in a table.
const MaxDocs = 1<<32 - 2

// Errors that callers may want to distinguish from damage.
var (
	// ErrNotTable is wrapped by the error for a file that neither starts nor ends like a table.
	ErrNotTable = errors.New("not an .sst table")
	// ErrUnsupported is wrapped by the error for an intact table of a newer format.
	ErrUnsupported = errors.New("unsupported table format")
	// ErrTooLarge is wrapped by the error for a document that exceeds a limit of the format.
	ErrTooLarge = errors.New("too large for a table")
)
