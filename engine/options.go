package engine

import (
	"log/slog"
	"strings"
	"time"

	"github.com/simdb/simdb/compaction"
	"github.com/simdb/simdb/engine/internal/store"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/jsonfield"
	"github.com/simdb/simdb/internal/vfs"
	"github.com/simdb/simdb/sstable"
)

// SyncMode says when an acknowledged write is safe.
type SyncMode int

const (
	// SyncAlways fsyncs the log before a write returns: what is acknowledged survives kill -9 and
	// power loss. Concurrent writers share one fsync.
	SyncAlways SyncMode = iota
	// SyncNever hands writes to the operating system and returns: acknowledged writes survive kill
	// -9 of the process, not a crash of the machine. What a crash leaves is a prefix of the writes,
	// never a part of one.
	SyncNever
)

// Options are the options of Open and Create. The zero value has good defaults.
type Options struct {
	// The first group is fixed at creation and ignored when the database exists, except that a
	// value that is set and differs from the database's is ErrParams.

	Shingle    int      // words, or characters, a shingle; 0 means 3, or 5 characters
	Features   Features // what of a document is compared; a zero part of it is not set
	Bits       int      // of a fingerprint: 64 (0 is the same), 128, 192, ... to 1024
	Layout     Layout   // of the permuted tables of all tables; "" means LayoutBySize
	Sketch     int      // entries of a MinHash sketch; 0 means 128
	MinJaccard float64  // the least threshold that JACCARD answers from its index; 0 means 0.65
	NoText     bool     // do not keep texts and fields
	NoSketch   bool     // do not keep sketches: no JACCARD
	// Containment keeps an index of the features of texts, so that searches by Contains and
	// Within, and for Passages, need not read all texts. It takes about 40 % of the size of the
	// texts.
	Containment bool
	// Index lists up to 16 fields to index, as the query language writes them: "lang",
	// "meta.url", "fields.'content-type'". Comparisons with their values need not read all
	// documents (=, <, <=, >, >=, IN, BETWEEN, LIKE 'prefix%'). It cannot go with NoText, which
	// keeps no fields.
	Index []string

	// TTL is how long a document lives. Older ones are invisible, and compaction drops them. 0
	// means that documents do not expire.
	TTL time.Duration

	// ReadOnly opens the database for reading. Any number of processes can read while one
	// writes: see DB.Refresh.
	ReadOnly  bool
	MustExist bool // Open does not create

	// BusyTimeout is how long Open waits while another process has the database open for writing,
	// before it returns ErrLocked. 0 means not at all.
	BusyTimeout time.Duration

	// Memory is how many bytes of results a query may hold to put them in order; 0 means 1 GiB.
	// A query that needs more ends with ErrTooLarge. It does not bound the memory of the search
	// itself: see Snapshot.Pairs and Snapshot.Clusters.
	Memory int64

	Sync                  SyncMode
	MemtableBytes         int  // flush after this much; 0 means 16 MiB
	DisableAutoCompaction bool // compact only on Compact; writers are never held back

	// CompactionRate is how many bytes a second merges write together; 0 means no limit.
	// DB.SetCompactionRate changes it.
	CompactionRate int64

	// CloseWait is how long Close waits for merges that run in the background. A merge that is
	// expected to take longer is abandoned and done again later; a negative value abandons all.
	// 0 means to finish them: a merge begins only after the database has been open for as long
	// as the merge is expected to take, so Close takes no longer than that, and no work is
	// lost.
	CloseWait time.Duration

	Logger  *slog.Logger // nil logs nothing
	OnEvent func(Event)  // called for what EventKind lists; must not call back into the DB

	fs  vfs.FS           // tests put a crashable or faulty file system here
	now func() time.Time // tests put a clock here

	chooseLayout func(n int64) sstable.Layout // tests put smaller limits of layouts by size here
	maxTableDocs int64                        // tests put a smaller limit of documents a table here
	policy       compaction.Options           // tests have more merges by it
	mergeSlots   int                          // tests have more merges at a time
}

// Layout says how fingerprints are indexed: in permuted tables, each sorted by other bits
// first. It is written "blocks:chosen": a fingerprint is divided into that many blocks, and
// each selection of that many chosen blocks leads one table. "4:1" makes four tables, "6:3"
// twenty; see docs/design.md.
type Layout string

// LayoutBySize gives each table the layout for its size when it is written: "4:1" for up to 25
// million fingerprints, "3:1" for up to two billion, and "2:1" above. It is the default.
const LayoutBySize Layout = "by size"

// internal returns the options as the store takes them; o may be nil.
func (o *Options) internal() store.Options {
	if o == nil {
		return store.Options{}
	}
	index := strings.Join(o.Index, ",")
	if canonical, err := jsonfield.Canonical(index); err == nil { // else the store refuses it
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

// EventKind says what an Event is about.
type EventKind string

// The kinds of an Event.
const (
	EventFlush   EventKind = store.EventFlush   // a memtable became a table
	EventCompact EventKind = store.EventCompact // tables were merged into one
	EventStall   EventKind = store.EventStall   // a write had to wait, for a merge or a flush, as Reason says
	EventRecover EventKind = store.EventRecover // Open replayed logs
	EventClean   EventKind = store.EventClean   // Open removed files that a killed process had left
	EventError   EventKind = store.EventError   // background work failed, or the writer stopped; Err says why
)

// Event is something that the engine did on its own.
type Event struct {
	Kind       EventKind
	Tables     []uint64 // numbers of the table written, or of those merged
	Output     uint64   // number of the table that a compaction wrote, 0 for none
	Reason     Reason   // of a compaction or a stall
	Docs       int      // documents written or replayed
	InputBytes int64    // of the tables merged
	Bytes      int64    // of the table written, or of the files removed
	Duration   time.Duration
	Files      []string // names of the files removed
	Err        error
}

// Reason says why tables are merged, or why a write had to wait: a string.
type Reason = compaction.Reason

// The reasons of merges, and those of EventStall.
const (
	ReasonTier   = compaction.ReasonTier   // as many tables of about one size as are merged together
	ReasonWindow = compaction.ReasonWindow // a part of the time to live has passed
	ReasonDead   = compaction.ReasonDead   // much was deleted, replaced or expired
	ReasonCount  = compaction.ReasonCount  // there were too many tables
	ReasonDrop   = compaction.ReasonDrop   // of the tables nothing was left
	ReasonLoad   = compaction.ReasonLoad   // a load wrote the tables
	ReasonAll    = compaction.ReasonAll    // Compact

	StallTables    Reason = "tables"    // merges had not kept up
	StallMemtables Reason = "memtables" // flushes had not
)
