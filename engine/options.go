package engine

import (
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/simdb/simdb/compaction"
	"github.com/simdb/simdb/engine/internal/store"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/jsonfield"
	"github.com/simdb/simdb/internal/table"
	"github.com/simdb/simdb/internal/vfs"
)

// Options are the options of Open and Create. The zero value has good defaults. As JSON they are the
// parameters that a database was created with: see DB.Options.
type Options struct {
	// The first group is fixed at creation. For an existing database it is ignored, except that a
	// value that is set and differs from the database's is ErrParams.

	Shingle    int      `json:"shingle"`             // words or characters per shingle; 0 means 3 words, or 5 characters
	Features   Features `json:"features"`            // the features to compare; zero parts are not set
	Bits       int      `json:"bits"`                // bits of a fingerprint: 64 (same as 0), 128, 192, ... to 1024
	Sketch     int      `json:"sketch"`              // entries of a MinHash sketch; 0 means 32, or 128 with NoText
	MinJaccard float64  `json:"min_jaccard"`         // lowest score of two sketches that the index of JACCARD finds; 0 means any, or 0.65 with NoText
	NoText     bool     `json:"no_text,omitempty"`   // do not store texts and fields
	NoSketch   bool     `json:"no_sketch,omitempty"` // do not store sketches: no JACCARD
	// Layout says how fingerprints are indexed: in permuted tables, each sorted by a different
	// choice of leading bits. It is written "blocks:chosen": a fingerprint is divided into that many
	// blocks, and there is one table for each selection of that many chosen blocks, which lead in
	// it. "4:1" makes four tables, "6:3" twenty; see docs/design.md. "" or "by size" gives each table
	// a layout for its size when it is written: "4:1" for up to 25 million fingerprints, "3:1" for
	// up to two billion, and "2:1" above.
	Layout string `json:"layout"`
	// Containment maintains an index of the features of texts, so that searches by Contains and
	// Within, and for Passages, need not read all texts. The index adds about 40 % of the size of
	// the texts.
	Containment bool `json:"containment,omitempty"`
	// Index lists up to 16 fields to index, as the query language writes them: "lang", "meta.url",
	// "fields.'content-type'". Comparisons with their values (=, <, <=, >, >=, IN, BETWEEN, LIKE
	// 'prefix%') need not read all documents. Index excludes NoText, which stores no fields.
	Index []string `json:"index,omitempty"`

	// TTL is how long a document lives. Older documents are invisible, and compaction drops them. The
	// database keeps it: for Open, 0 leaves it as it is, another value changes it from then on, unless
	// ReadOnly is set, and a negative one means that documents do not expire. A document that has
	// expired and was not dropped yet is visible again under a longer TTL.
	TTL time.Duration `json:"ttl_ns"`

	// ReadOnly opens the database for reading. Any number of processes can read while one
	// writes: see DB.Refresh.
	ReadOnly  bool `json:"-"`
	MustExist bool `json:"-"` // Open does not create a database

	// Shared opens the database for writing together with other processes that do the same: they
	// write by turns, and all see what any has written. A full disk, a kill or a crash affects
	// each process as if it were alone. If the log cannot be written or synced for another reason,
	// no process writes any more until all have closed the database (ErrFailed). On
	// Windows a database cannot be shared, and neither on a network file system, which the error of
	// Open names. That error is errors.ErrUnsupported.
	Shared bool `json:"-"`

	// BusyTimeout is how long Open waits while another process has the database open for writing,
	// before it returns ErrLocked. 0 means that it does not wait. A write to a shared database waits
	// for its turn so long, but at least 30 seconds.
	BusyTimeout time.Duration `json:"-"`

	// Memory is how many bytes of results a query may hold to sort them; 0 means 1 GiB. A query
	// that needs more ends with ErrTooLarge. Memory does not bound the search itself: see
	// Reader.Pairs and Reader.Clusters.
	Memory int64 `json:"-"`

	// Cache is how many bytes of decompressed texts and fields stay in memory for the next read by
	// ID, for all tables together. 0 means a 64th of the memory of the machine or of its control
	// group, at least 8 MiB, and at most 256 MiB and a quarter of Memory. A negative value means
	// none: then each read decompresses up to 24 KiB. Reads in order need no cache.
	Cache int64 `json:"-"`

	// Table has the content of a table file that is not on a disk, but on a server, for example. Open
	// opens it read-only, and path is only its name. It is read in parts, by calls of ReadAt from
	// several goroutines until Close: at first the last 64 KiB, then only what is needed, which stays
	// in memory. Failures of ReadAt are errors of the methods that need what was not read. A method
	// ReadParts(parts [][]byte, offs []int64) (ok bool, err error), if there is one, reads several parts
	// by one request; if it returns false, ReadAt reads them. A method During(ctx context.Context) (end func()),
	// if there is one, is called when a method begins to read, and end when it has read: once the contexts of all
	// that read have ended, reads may end with an error.
	Table interface {
		io.ReaderAt
		Size() int64 // in bytes
	} `json:"-"`

	// NoSync hands writes to the operating system and returns: acknowledged writes survive kill -9 of
	// the process, but not a crash of the machine. After a crash the database holds a prefix of the
	// writes, never a part of one. Otherwise a write returns after an fsync of the log, which
	// concurrent writers share, and survives kill -9 and power loss.
	NoSync        bool `json:"-"`
	MemtableBytes int  `json:"-"` // flush a memtable of this size; 0 means 16 MiB

	// MaxTableBytes limits the tables that merges write; 0 means 4 GiB. So a database has several
	// large tables instead of one, but no merge lasts long or needs much space. Only a merge that
	// drops dead documents of a single larger table, such as an ingested one, may exceed it.
	MaxTableBytes int64 `json:"-"`

	// History is how many bytes of removed documents, their IDs and about four bytes for each, the
	// database has for Changes. A flush or a merge drops the oldest ones beyond it. 0 means 1 MiB,
	// or as much as a process with a larger value has left; a negative value means none. The history
	// is in memory while the database is open, and readers of other processes read it after each
	// flush.
	History int64 `json:"-"`

	DisableAutoCompaction bool `json:"-"` // compact only on Compact; writers are never held back

	// CompactionRate is how many bytes per second all merges write together; 0 means no limit.
	// DB.SetCompactionRate changes it.
	CompactionRate int64 `json:"-"`

	// ScrubRate is how many bytes of tables per second are verified in the background, while nothing
	// is flushed or merged: all checksums, once a day. Merges leave out a table that turns out to be
	// damaged, Metrics names it, and OnEvent gets an Event of the kind "error"; see DB.Repair. 0 means
	// that nothing is verified: a library should not read whole databases unless the program asks for
	// it. 1 MiB per second suffices for 90 GB.
	ScrubRate int64 `json:"-"`

	// CloseWait is how long Close waits for merges that run in the background; 0 means 0.2 seconds.
	// A merge that needs longer, or is expected to, is abandoned and done again after the next Open;
	// a negative value abandons all. Nothing but the work is lost, and never more of it than half of
	// the time for which the database was open: a merge starts only after the database has been
	// open for the expected duration of the merge. With a large value Close finishes every merge.
	CloseWait time.Duration `json:"-"`

	Logger  *slog.Logger `json:"-"` // nil disables logging
	OnEvent func(Event)  `json:"-"` // called for each Event; must not call back into the DB

	fs       vfs.FS               // for tests: a crashable or faulty file system
	now      func() time.Time     // for tests: a clock
	elapsed  func() time.Duration // for tests: the monotonic clock
	flushAge time.Duration        // for tests: flush memtables earlier

	chooseLayout func(n int64) table.Layout // for tests: smaller limits of layouts by size
	maxTableDocs int64                      // for tests: fewer documents per table
	indexMemory  int64                      // for tests: memory for fewer small tables
	policy       compaction.Options         // for tests: a policy with more merges
	mergeSlots   int                        // for tests: more concurrent merges
}

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
		Shingle: o.Shingle, Features: features.Spec(o.Features), Bits: o.Bits, Layout: o.Layout, Sketch: o.Sketch, MinJaccard: o.MinJaccard,
		NoText: o.NoText, NoSketch: o.NoSketch, Sets: o.Containment, Index: index, TTL: o.TTL,
		ReadOnly: o.ReadOnly, Shared: o.Shared, MustExist: o.MustExist, BusyTimeout: o.BusyTimeout, Memory: o.Memory, Cache: o.Cache,
		NoSync: o.NoSync, MemtableBytes: o.MemtableBytes, MaxTableBytes: o.MaxTableBytes, History: o.History, NoAutoCompaction: o.DisableAutoCompaction,
		CompactionRate: o.CompactionRate, ScrubRate: o.ScrubRate, CloseWait: o.CloseWait,
		Logger: o.Logger, FS: o.fs, Table: o.Table, Now: o.now, Elapsed: o.elapsed, FlushAge: o.flushAge, ChooseLayout: o.chooseLayout, MaxTableDocs: o.maxTableDocs, IndexMemory: o.indexMemory,
		Policy: o.policy, MergeSlots: o.mergeSlots,
	}
	if on := o.OnEvent; on != nil {
		s.OnEvent = func(e store.Event) {
			on(Event{
				Kind: e.Kind, Tables: e.Tables, Output: e.Output, Reason: string(e.Reason), Docs: e.Docs, InputBytes: e.InputBytes,
				Bytes: e.Bytes, Duration: e.Duration, Files: e.Files, Err: e.Err,
			})
		}
	}
	return s
}

// Event describes work that the engine started by itself.
type Event struct {
	// Kind is "flush" (a memtable was written to a table), "compact" (tables were merged into one),
	// "stall" (a write had to wait for a merge or a flush), "recover" (Open replayed logs), "clean"
	// (Open removed files left by a killed process) or "error" (background work failed, or the
	// writer stopped: see Err).
	Kind   string   `json:"kind"`
	Tables []uint64 `json:"tables"` // number of the table written, or numbers of the tables merged
	Output uint64   `json:"output"` // number of the table that a compaction wrote, 0 if none
	// Reason of a compaction: "tier" (enough tables of about the same size), "window" (a part of the
	// time to live has passed), "dead" (many documents were deleted, replaced or expired), "count"
	// (too many tables), "drop" (no document was left), "load" (a load wrote the tables) or "all"
	// (Compact). Reason of a stall: "tables" (merges have not kept up) or "memtables" (flushes have
	// not kept up).
	Reason     string        `json:"reason"`
	Docs       int           `json:"documents"`        // documents written or replayed
	InputDocs  int           `json:"input_documents"`  // in the tables merged; only in Metrics
	InputBytes int64         `json:"input_bytes"`      // size of the tables merged
	Bytes      int64         `json:"bytes"`            // size of the table written, or of the files removed
	Started    time.Time     `json:"started,omitzero"` // only in Metrics
	Duration   time.Duration `json:"duration_ns"`      // so far, if it is running
	Done       float64       `json:"done"`             // the share that is done of a running merge; only in Metrics
	Files      []string      `json:"files,omitempty"`  // names of the files removed
	Err        error         `json:"-"`
}
