package table

import (
	"errors"
	"fmt"

	"github.com/simdb/simdb/sstable/internal/hamming"
)

// Kind is what a section holds. Its value is part of the format and must not change.
type Kind uint16

// Kinds of sections.
const (
	KindBlocks     Kind = 1  // blocks of names, records and sketches, in the order of writing
	KindNames      Kind = 2  // directory of the blocks of names
	KindRecords    Kind = 3  // directory of the blocks of records: texts with their fields
	KindTimes      Kind = 4  // column of times by rank
	KindSeqs       Kind = 5  // key run of sequence numbers by rank
	KindRun        Kind = 6  // key run of the permuted table that Section.Index says
	KindIDs        Kind = 7  // key run of the hashes of IDs, with document numbers
	KindRanks      Kind = 8  // column of ranks by document number; absent if each is its number
	KindSketches   Kind = 9  // directory of the blocks of sketches
	KindHot        Kind = 10 // list of hot hashes
	KindBitmaps    Kind = 11 // bitmaps of the sketches of a segment
	KindPostings   Kind = 12 // key run of the hashes in prefixes of the sketches of a segment
	KindNote       Kind = 13 // what the owner of the table keeps with it; opaque here, optional
	KindPlaces     Kind = 14 // column of record numbers by document number; absent if each is its number
	KindTimeSketch Kind = 15 // quantiles of the times, optional
	KindEarly      Kind = 16 // copy of the directory and of directories so far
	KindIDBounds   Kind = 17 // IDs at which the parts of the order of IDs begin, optional
	KindIDParts    Kind = 18 // key run of parts with their documents, of a stretch of them; optional
	KindWords      Kind = 19 // column of a word of the fingerprints, by document number; Index 1 and more
	KindSetSizes   Kind = 20 // column of the sizes of the sets of features, by document
	KindSets       Kind = 21 // key run of the bins of these features, with document numbers
	KindValues     Kind = 22 // list of an indexed field: keys of its values, sorted; Index as package fieldidx says
	KindValueDocs  Kind = 23 // column of the documents of these keys
	KindUnknown    Kind = 24 // first kind that no version knows

	// DirFlag is set in the kind of the section that is the directory of another: a key run or a
	// column, which has the same kind without it, and the same index.
	DirFlag Kind = 1 << 15
)

// String names the kind as errors and the layout dump do.
func (k Kind) String() string {
	names := [...]string{"", "blocks", "names", "records", "times", "seqs", "run", "ids", "ranks",
		"sketches", "hot", "bitmaps", "postings", "note", "places", "time-sketch", "early",
		"id-bounds", "id-parts", "words", "set-sizes", "sets", "values", "value-docs"}
	if k > 0 && k < KindUnknown {
		return names[k]
	}
	return fmt.Sprintf("kind-%d", uint16(k))
}

// HasDir reports whether sections of a kind have a directory in a section of its own.
func (k Kind) HasDir() bool {
	switch k {
	case KindTimes, KindSeqs, KindRun, KindIDs, KindRanks, KindPostings, KindPlaces, KindIDParts, KindWords, KindSetSizes, KindSets, KindValues, KindValueDocs:
		return true
	}
	return false
}

// Section is a part of the file.
type Section struct {
	Kind Kind
	// RunIndex of the permuted table for KindRun; of the word for KindWords; of the list for
	// KindValues and KindValueDocs; for KindBlocks, KindBitmaps, KindPostings of the segment; for
	// KindIDParts of the stretch; else 0
	Index    uint16
	Optional bool   // a reader that does not know the kind may ignore the section
	Offset   int64  // of its first byte in the file, a multiple of 64
	Length   int64  // in bytes
	Count    uint64 // how many things it holds: blocks, keys or values
	Checksum uint32 // CRC32C of all its bytes
}

// Name is what errors call the section: its kind, and the number of a run or a segment.
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

// RunIndex returns the index of the section with the run of a permuted table of a word.
func RunIndex(word, table int) uint16 { return uint16(word*hamming.MaxTables + table) }

// Identity says which table a file is: what is needed to put a lost catalog together again. All of
// it is zero in a file that belongs to no database, such as a packed one.
type Identity struct {
	Database [16]byte // UUID of the database that the table was written for
	Number   uint64   // of the table in it
	Created  int64    // when the table was written, microseconds since the Unix epoch
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
	Identity         Identity
	// CRC32C of the table's directory, which holds checksums of all sections: a digest of the table
	Checksum uint32
	Sections []Section
}

const (
	Alignment   = 64      // sections start at multiples of this
	HeaderSize  = 64      // bytes of the header
	TailSize    = 32      // bytes of the trailer
	MaxSections = 1 << 14 // sections a table: four a segment, and a few
	// flag of a section that a reader which does not know its kind may ignore
	optionalFlag = 1
)

// SegmentReserve is at least the number of sections of a table that are neither segments nor runs.
const SegmentReserve = 32

// MaxDocs is the most documents a table.
const MaxDocs = 1<<32 - 2

// Errors that a caller may want to tell from damage.
var (
	// ErrNotTable is in the error for a file that neither starts nor ends as a table does.
	ErrNotTable = errors.New("not an .sst table")
	// ErrUnsupported is in the error for an intact table of a newer format.
	ErrUnsupported = errors.New("unsupported table format")
	// ErrTooLarge is in the error of a document that exceeds a limit of the format.
	ErrTooLarge = errors.New("too large for a table")
)
