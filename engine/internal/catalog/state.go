package catalog

import (
	"cmp"
	"errors"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
)

// Version is the version of the format that this package writes. Version 1 is the first.
const Version = 1

var (
	// ErrVersion is returned for a catalog in a version that this package does not know.
	ErrVersion = errors.New("unknown catalog format version")
	// ErrMoved is returned by Read if the catalog was written meanwhile.
	ErrMoved = errors.New("the catalog was written while it was read")
	// ErrClosed is returned by Apply after Close.
	ErrClosed = errors.New("catalog is closed")
	// ErrInvalid is returned for a state or an edit that contradicts itself or the catalog. It
	// changes nothing.
	ErrInvalid = errors.New("invalid catalog edit")
)

// Table describes a live table.
type Table struct {
	Number           uint64 // number of the file
	Size             int64  // size of the file in bytes
	Docs             uint32 // number of documents, including deleted ones
	Fingerprints     uint32 // number of documents with a fingerprint
	MinTime, MaxTime int64  // range of the documents' times, unix microseconds
	MinSeq, MaxSeq   uint64 // range of the writes' sequence numbers
	Digest           uint32 // checksum of the file's footer, to detect a swapped file
}

// State is the contents of a catalog.
type State struct {
	FormatVersion uint32 // for Create, 0 means Version
	UUID          [16]byte
	Created       time.Time                  // to the microsecond
	Params        []byte                     // the database's fixed parameters, opaque here
	Options       map[string]string          // options that can be changed
	Tables        []Table                    // sorted by number
	Tombstones    map[uint64]*roaring.Bitmap // the deleted documents by table number; no bitmap is empty
	NextFile      uint64                     // greater than the numbers of all files so far
	FlushedSeq    uint64                     // all writes up to this number are in tables
	FirstWAL      uint64                     // earlier logs are not needed
	Marks         map[string]int64           // positions of bulk loads
	Allowed       []IDPair                   // allowed pairs of documents, sorted
	LastSeq       uint64                     // upper bound of the sequence numbers of all writes, including those of dropped tables
	History       *History                   // the documents removed lately; nil if none was ever recorded
	Closed        LogEnd                     // the newest log when the database was last closed; zero if there was none

	stored map[uint64]stored // sizes of the records in Tombstones, by table number
}

// LogEnd says where a log ended when it was closed. From then on the log must exist with that size,
// until it is no longer needed (FirstWAL).
type LogEnd struct {
	Number uint64
	Size   int64
}

// IDPair is the IDs of two documents, A < B.
type IDPair struct{ A, B string }

// Edit is a set of changes that are made together. The zero Edit changes nothing.
type Edit struct {
	AddTables  []Table  // their numbers must be new
	DropTables []uint64 // drops their tombstones, too

	// SetTombstones replaces the deleted documents of a table, which may be one of AddTables. Nil
	// and an empty bitmap mean none. AddTombstones adds deleted documents to those of an existing
	// table, and writes little more than these.
	SetTombstones, AddTombstones map[uint64]*roaring.Bitmap

	NextFile, FlushedSeq, FirstWAL *uint64 // nil leaves the value unchanged

	Allow, Unallow []IDPair // removing a pair that is not recorded changes nothing

	SetMarks   map[string]int64
	SetOptions map[string]string

	// Removed adds documents to State.History, in the order of their numbers. The oldest ones are
	// dropped until it has at most HistoryLimit bytes.
	Removed      []Removal
	HistoryLimit int64

	LastSeq uint64 // raises State.LastSeq to this number if it is lower

	// SetClosed replaces State.Closed, unless the log is no longer needed.
	SetClosed *LogEnd
}

func compareTables(a, b Table) int { return cmp.Compare(a.Number, b.Number) }

// OptionTTL is the key in Options for the time to live of documents, in the format of
// time.Duration.String. Without it, or with 0s, documents do not expire.
const OptionTTL = "ttl"

// OptionEdited is the key in Options for the time of the newest edit, by the wall clock, in RFC 3339.
// A database without a time to live has none.
const OptionEdited = "edited"
