package engine

import (
	"context"
	"sync"
	"time"

	"github.com/simdb/simdb/engine/internal/search"
)

// QueryStats counts the work of queries; WithStats collects it.
type QueryStats struct {
	Probes     int64 // ranges of permuted tables looked up; postings read
	Candidates int64 // fingerprints compared, or sketches scored
	Matches    int64 // documents found before any other predicate
	Tables     int64 // tables and memtables asked
}

// WithStats returns a context whose queries add what they do to s. Each adds its work once, when it
// has ended; queries of one context may run concurrently, and s must not be read while one does.
func WithStats(ctx context.Context, s *QueryStats) context.Context {
	var mu sync.Mutex
	return search.WithCounts(ctx, func(c search.Counts) {
		mu.Lock()
		defer mu.Unlock()
		s.Probes += c.Probes
		s.Candidates += c.Candidates
		s.Matches += c.Matches
		s.Tables += c.Tables
	})
}

// PlanMethod is how a query finds its candidates in one table or memtable.
type PlanMethod string

// The methods of a PartPlan.
const (
	// PlanProbe, for Near, looks up ranges of permuted tables, or values of blocks in a memtable.
	PlanProbe PlanMethod = "probe"
	// PlanPostings, for Jaccard, reads the postings of the query's rarest hashes.
	PlanPostings PlanMethod = "postings"
	// PlanScan compares all fingerprints, all bitmaps of sketches, or all texts.
	PlanScan PlanMethod = "scan"
	// PlanSignatures, for Levenshtein and Cosine, compares signatures of texts, and texts that they
	// do not rule out.
	PlanSignatures PlanMethod = "signatures"
	// PlanSign is the same, after all texts have been read to make their signatures.
	PlanSign PlanMethod = "sign"
)

// PartPlan is the plan of a Search for one table or memtable.
type PartPlan struct {
	Part       string // "table 000012.sst", "memtable"
	Documents  int    // in it, dead ones too
	Method     PlanMethod
	Radii      []int   // PlanProbe: the radius of each permuted table, or block, -1 for one that is not probed
	Probes     int     // ranges or values to look up, or postings to read
	Candidates int     // fingerprints or sketches expected to be compared
	Cost       float64 // estimated nanoseconds on one core, without putting matches in order
}

// Stats describes a database.
type Stats struct {
	Path         string
	Documents    int64 // visible: neither deleted, replaced nor, by the estimate of Expired, expired
	Fingerprints int64 // with a fingerprint, neither deleted nor replaced
	Tombstones   int64 // deleted or replaced documents still in tables
	Expired      int64 // expired documents still in tables, estimated from samples of their times
	Tables       []TableStats
	Memtable     int64 // documents not yet in a table
	DiskBytes    int64
	Orphans      []OrphanStats
	Params       Params
	Seq          uint64 // number of the last write
}

// SpaceAmplification returns how many documents the tables have for each that is visible in them: 1
// if nothing in them is dead or expired, 0 if nothing is visible.
func (s *Stats) SpaceAmplification() float64 {
	living := s.Documents - s.Memtable
	if living <= 0 {
		return 0
	}
	return float64(living+s.Tombstones+s.Expired) / float64(living)
}

// TableStats describes one table file.
type TableStats struct {
	Name                string
	Documents           int64
	Tombstones          int64
	Expired             int64 // estimated: see Stats.Expired
	Bytes               int64
	MinTime, MaxTime    time.Time
	Layout              Layout // of the permuted tables
	IndexBytes          int64  // of the permuted tables
	BytesPerFingerprint float64
}

// OrphanStats describes a whole table that lay in the database's folder but that its catalog does
// not list: Open sets such a file aside, under a name that ends with .orphan. It comes from
// elsewhere, or the catalog is an old copy. Its documents can be added by Ingest; if they are not
// needed the file can be removed.
type OrphanStats struct {
	Name  string
	Bytes int64
}

// Params are the parameters a database was created with; all its tables have them. The layout of a
// table may differ: see LayoutBySize, and DB.Ingest.
type Params struct {
	Tokenizer  int    // version of the tokenizer
	Shingle    int    // words, or characters, a shingle; 1 in a database of sets
	Layout     Layout // of the permuted tables of every table, or LayoutBySize
	Sketch     int    // entries of a MinHash sketch, 0 for none
	MinJaccard float64
	Text       bool // texts are kept
	TTL        time.Duration
	Features   Features // what of a document is compared
}

// Metrics counts what a DB has done since it was opened.
type Metrics struct {
	Puts, Deletes, Batches int64
	Queries                int64
	Flushes, Compactions   int64
	BytesFlushed           int64 // of tables written from memtables
	BytesLoaded            int64 // of tables that were loaded or ingested
	BytesCompacted         int64 // of tables that merges wrote
	WALBytes               int64

	TablesMerged   int64         // inputs of Compactions
	BytesMerged    int64         // of them
	CompactionTime time.Duration // sum over the merges, of which several may run at a time
	Merging        int           // merges that are running

	Stalls    int64         // writes that waited for a flush or for a merge
	StallTime time.Duration // that they waited
	SlowTime  time.Duration // that writes were held back while there were many tables
}

// WriteAmplification returns how many bytes of tables were written for each that came in: 1 if
// nothing was merged, 0 if nothing came in.
func (m Metrics) WriteAmplification() float64 {
	in := m.BytesFlushed + m.BytesLoaded
	if in == 0 {
		return 0
	}
	return float64(in+m.BytesCompacted) / float64(in)
}

// MergeStats describes a merge of tables.
type MergeStats struct {
	Inputs         []uint64 // numbers of the tables
	InputDocuments int64
	InputBytes     int64
	Output         uint64 // number of the table written, 0 if no document was left
	Documents      int64  // in it
	Bytes          int64
	// Reason is "tier" for tables of about one size, "window" for a part of the time to live that
	// has passed, "dead" for much that was deleted, replaced or expired, "count" for too many
	// tables, "drop" for tables with nothing left, "load" for tables of a load, and "all"
	// for Compact.
	Reason   string
	Started  time.Time
	Duration time.Duration // so far, of one that is running
	Done     float64       // of one that is running, the share that is done
	Err      error         // why the merge failed; its tables are as they were
}

// Merges returns the merges that are running, in the order in which they began, and up to 16 of
// those that have ended since the database was opened, the last one last.
func (db *DB) Merges() (running, past []MergeStats) {
	now, ended := db.s.Merges()
	for _, m := range now {
		running = append(running, MergeStats(m))
	}
	for _, m := range ended {
		past = append(past, MergeStats(m))
	}
	return running, past
}

// LoadOptions are the options of NewLoader.
type LoadOptions struct {
	Replace     bool  // a document whose ID is stored replaces it; otherwise Add refuses it with ErrExists
	MemoryBytes int64 // sort and write a table after about this much; 0 means 256 MiB
	Workers     int   // goroutines that fingerprint; 0 means GOMAXPROCS
}

// LoadStats is what a Loader has done.
type LoadStats struct {
	Documents int64 // stored, without those that later ones of the same load have replaced
	Empty     int64 // of them, without words and so without fingerprint
	Replaced  int64 // stored before, or earlier in the same load, and replaced
	Tables    int
	Bytes     int64 // of tables written
}

// CheckReport is what Check found.
type CheckReport struct {
	Tables, Documents int64
	Bytes             int64
	Problems          []error // *CorruptionError mostly; empty when all is well
	Orphans           []OrphanStats
}
