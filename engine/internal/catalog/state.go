package catalog

import (
	"cmp"
	"errors"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
)

// Version is the version of the format that this package writes and reads. Version 1 is the first.
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
	Number           uint64 // of the file
	Size             int64  // of the file, in bytes
	Docs             uint32 // documents in it, deleted ones included
	Fingerprints     uint32 // documents that have a fingerprint
	MinTime, MaxTime int64  // of its documents, unix microseconds
	MinSeq, MaxSeq   uint64 // of the writes in it
	Digest           uint32 // of the file's footer, so that a swapped file is noticed
}

// State is what a catalog says.
type State struct {
	FormatVersion uint32 // Create takes 0 for Version
	UUID          [16]byte
	Created       time.Time                  // to the microsecond
	Params        []byte                     // the database's fixed parameters, opaque here
	Options       map[string]string          // options that can be changed
	Tables        []Table                    // sorted by number
	Tombstones    map[uint64]*roaring.Bitmap // by table number, the deleted documents; none is empty
	NextFile      uint64                     // a number that no file has had
	FlushedSeq    uint64                     // writes up to this one are in tables
	FirstWAL      uint64                     // logs before this one are not needed
	Marks         map[string]int64           // positions of bulk loads
	Allowed       []IDPair                   // pairs of documents that may be alike, sorted
	LastSeq       uint64                     // a sequence number that no write was above, tables that are gone included
	Closed        LogEnd                     // the newest log when the database was last closed; zero if it never was with one
}

// LogEnd says where a log ended when it was closed. From then on the log must be there, whole and
// of that size, until it is no longer needed (FirstWAL).
type LogEnd struct {
	Number uint64
	Size   int64
}

// IDPair is the IDs of two documents, A < B.
type IDPair struct{ A, B string }

// Edit is a set of changes that are made at once. Its zero value changes nothing.
type Edit struct {
	AddTables  []Table  // their numbers must be new
	DropTables []uint64 // with their tombstones

	// SetTombstones replaces the deleted documents of a table, which may be one of AddTables. nil
	// and an empty bitmap mean none.
	SetTombstones map[uint64]*roaring.Bitmap

	NextFile, FlushedSeq, FirstWAL *uint64 // nil leaves them

	Allow, Unallow []IDPair // Unallow of a pair that is not there changes nothing

	SetMarks map[string]int64

	LastSeq uint64 // raises State.LastSeq, if it is above

	// SetClosed replaces State.Closed, unless the log is not needed.
	SetClosed *LogEnd
}

func compareTables(a, b Table) int { return cmp.Compare(a.Number, b.Number) }

// OptionTTL is the name among Options of the time to live of documents, written as by
// time.Duration.String. Without it documents do not expire.
const OptionTTL = "ttl"
