package engine

import (
	"log/slog"
	"strings"
	"time"

	"github.com/simdb/simdb/compaction"
	"github.com/simdb/simdb/engine/internal/merges"
	"github.com/simdb/simdb/engine/internal/store"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/jsonfield"
	"github.com/simdb/simdb/internal/table"
	"github.com/simdb/simdb/internal/vfs"
)

// SyncMode says when an acknowledged write is safe.
type SyncMode int

const (
	// SyncAlways calls fsync on the log before a write returns: acknowledged writes survive kill -9
	// and power loss. Concurrent writers share one fsync.
	SyncAlways SyncMode = iota
	// SyncNever hands writes to the operating system and returns: acknowledged writes survive kill
	// -9 of the process, but not a crash of the machine. After a crash the database holds a prefix
	// of the writes, never a part of one.
	SyncNever
)

// Options are the options of Open and Create. The zero value has good defaults.
type Options struct {
	// The first group is fixed at creation. For an existing database it is ignored, except that a
	// value that is set and differs from the database's is ErrParams.

	Shingle    int      // words or characters per shingle; 0 means 3 words, or 5 characters
	Features   Features // the features to compare; zero parts are not set
	Bits       int      // bits of a fingerprint: 64 (same as 0), 128, 192, ... to 1024
	Layout     Layout   // layout of the permuted tables; "" means LayoutBySize
	Sketch     int      // entries of a MinHash sketch; 0 means 128
	MinJaccard float64  // lowest threshold for which JACCARD uses its index; 0 means 0.65
	NoText     bool     // do not store texts and fields
	NoSketch   bool     // do not store sketches: no JACCARD
	// Containment maintains an index of the features of texts, so that searches by Contains and
	// Within, and for Passages, need not read all texts. The index adds about 40 % of the size of
	// the texts.
	Containment bool
	// Index lists up to 16 fields to index, as the query language writes them: "lang", "meta.url",
	// "fields.'content-type'". Comparisons with their values (=, <, <=, >, >=, IN, BETWEEN, LIKE
	// 'prefix%') need not read all documents. Index excludes NoText, which stores no fields.
	Index []string

	// TTL is how long a document lives. Older documents are invisible, and compaction drops them. 0
	// means that documents do not expire.
	TTL time.Duration

	// ReadOnly opens the database for reading. Any number of processes can read while one
	// writes: see DB.Refresh.
	ReadOnly  bool
	MustExist bool // Open does not create a database

	// BusyTimeout is how long Open waits while another process has the database open for writing,
	// before it returns ErrLocked. 0 means that it does not wait.
	BusyTimeout time.Duration

	// Memory is how many bytes of results a query may hold to sort them; 0 means 1 GiB. A query
	// that needs more ends with ErrTooLarge. Memory does not bound the search itself: see
	// Snapshot.Pairs and Snapshot.Clusters.
	Memory int64

	Sync                  SyncMode
	MemtableBytes         int  // flush a memtable of this size; 0 means 16 MiB
	DisableAutoCompaction bool // compact only on Compact; writers are never held back

	// CompactionRate is how many bytes per second all merges write together; 0 means no limit.
	// DB.SetCompactionRate changes it.
	CompactionRate int64

	// CloseWait is how long Close waits for merges that run in the background. A merge that is
	// expected to need longer is abandoned and done again later; a negative value abandons all. 0
	// means that Close finishes every merge, so that no work is lost. Close then takes no longer
	// than the database has been open, because a merge starts only after the database has been open
	// for the expected duration of the merge.
	CloseWait time.Duration

	Logger  *slog.Logger // nil disables logging
	OnEvent func(Event)  // called for each EventKind; must not call back into the DB

	fs  vfs.FS           // for tests: a crashable or faulty file system
	now func() time.Time // for tests: a clock

	chooseLayout func(n int64) table.Layout // for tests: smaller limits of LayoutBySize
	maxTableDocs int64                      // for tests: fewer documents per table
	policy       compaction.Options         // for tests: a policy with more merges
	mergeSlots   int                        // for tests: more concurrent merges
}

// Layout says how fingerprints are indexed: in permuted tables, each sorted by a different choice
// of leading bits. It is written "blocks:chosen": a fingerprint is divided into that many blocks,
// and there is one table for each selection of that many chosen blocks, which lead in it. "4:1"
// makes four tables, "6:3" twenty; see docs/design.md.
type Layout string

// LayoutBySize gives each table a layout for its size when it is written: "4:1" for up to 25
// million fingerprints, "3:1" for up to two billion, and "2:1" above. It is the default.
const LayoutBySize Layout = "by size"

// internal converts the options to those of the store; o may be nil.
func (o *Options) internal() store.Options {
	if o == nil {
		return store.Options{}
	}
	index := strings.Join(o.Index, ",")
	if canonical, err := jsonfield.Canonical(index); err == nil { // otherwise the store refuses it
		index = canonical
	}
	s := store.Options{
		Shingle: o.Shingle, Features: features.Spec(o.Features), Bits: o.Bits, Layout: string(o.Layout), Sketch: o.Sketch, MinJaccard: o.MinJaccard,
		NoText: o.NoText, NoSketch: o.NoSketch, Sets: o.Containment, Index: index, TTL: o.TTL,
		ReadOnly: o.ReadOnly, MustExist: o.MustExist, BusyTimeout: o.BusyTimeout, Memory: o.Memory,
		NoSync: o.Sync == SyncNever, MemtableBytes: o.MemtableBytes, NoAutoCompaction: o.DisableAutoCompaction,
		CompactionRate: o.CompactionRate, CloseWait: o.CloseWait,
		Logger: o.Logger, FS: o.fs, Now: o.now, ChooseLayout: o.chooseLayout, MaxTableDocs: o.maxTableDocs,
		Policy: o.policy, MergeSlots: o.mergeSlots,
	}
	if on := o.OnEvent; on != nil {
		s.OnEvent = func(e store.Event) {
			on(Event{EventKind(e.Kind), e.Tables, e.Output, e.Reason, e.Docs, e.InputBytes, e.Bytes, e.Duration, e.Files, e.Err})
		}
	}
	return s
}

// EventKind says what happened in an Event.
type EventKind string

// The kinds of an Event.
const (
	EventFlush   EventKind = store.EventFlush   // a memtable was written to a table
	EventCompact EventKind = store.EventCompact // tables were merged into one
	EventStall   EventKind = store.EventStall   // a write had to wait for a merge or a flush: see Reason
	EventRecover EventKind = store.EventRecover // Open replayed logs
	EventClean   EventKind = store.EventClean   // Open removed files left by a killed process
	EventError   EventKind = store.EventError   // background work failed, or the writer stopped: see Err
)

// Event describes work that the engine started by itself.
type Event struct {
	Kind       EventKind
	Tables     []uint64 // number of the table written, or numbers of the tables merged
	Output     uint64   // number of the table that a compaction wrote, 0 if none
	Reason     Reason   // reason of a compaction or a stall
	Docs       int      // documents written or replayed
	InputBytes int64    // size of the tables merged
	Bytes      int64    // size of the table written, or of the files removed
	Duration   time.Duration
	Files      []string // names of the files removed
	Err        error
}

// Reason says why tables are merged, or why a write had to wait: a string.
type Reason = compaction.Reason

// The reasons of merges, and those of EventStall.
const (
	ReasonTier   = compaction.ReasonTier   // enough tables of about the same size to merge
	ReasonWindow = compaction.ReasonWindow // a part of the time to live has passed
	ReasonDead   = compaction.ReasonDead   // many documents were deleted, replaced or expired
	ReasonCount  = compaction.ReasonCount  // there were too many tables
	ReasonDrop   = compaction.ReasonDrop   // no document of the tables was left
	ReasonLoad   = merges.ReasonLoad       // a load wrote the tables
	ReasonAll    = merges.ReasonAll        // Compact

	StallTables    Reason = "tables"    // merges have not kept up
	StallMemtables Reason = "memtables" // flushes have not kept up
)
