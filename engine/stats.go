package engine

import (
	"context"
	"time"
)

// QueryStats counts the work of queries; WithStats collects it.
type QueryStats struct {
	Probes     int64 // ranges of permuted tables looked up; postings read
	Candidates int64 // fingerprints compared, or sketches scored
	Matches    int64 // documents found before any other predicate
	Tables     int64 // tables and memtables asked
}

type statsKey struct{}

// WithStats returns a context under which queries add what they do to s. Queries of one context must not run
// concurrently.
func WithStats(ctx context.Context, s *QueryStats) context.Context {
	return context.WithValue(ctx, statsKey{}, s)
}

// statsOf returns where to count, or spare if nobody asked for it.
func statsOf(ctx context.Context, spare *QueryStats) *QueryStats {
	if s, _ := ctx.Value(statsKey{}).(*QueryStats); s != nil {
		return s
	}
	return spare
}

// NearPlan is how one Near query is carried out: a line for each table and memtable.
type NearPlan struct {
	K     int
	Parts []PartPlan
}

// PartPlan is the plan of a Near or Jaccard query for one table or memtable.
type PartPlan struct {
	Part       string // "table 12", "memtable"
	Documents  int
	Method     string // "probe", "postings" or "scan"
	Radii      []int  // probe: the radius of each permuted table, -1 for one that is not asked
	Probes     int    // ranges to look up, or postings to read
	Candidates int    // fingerprints expected to be compared
}

// Stats describes a database.
type Stats struct {
	Path         string
	Documents    int64 // visible: neither deleted, replaced nor expired (expired ones counted until compaction)
	Fingerprints int64 // of them, with a fingerprint
	Tombstones   int64 // deleted or replaced documents still in tables
	Tables       []TableStats
	Memtable     int64 // documents not yet in a table
	DiskBytes    int64
	Orphans      []OrphanStats
	Params       Params
	Seq          uint64 // number of the last write
}

// TableStats describes one table file.
type TableStats struct {
	Name                string
	Documents           int64
	Tombstones          int64
	Bytes               int64
	MinTime, MaxTime    time.Time
	IndexBytes          int64 // permuted tables
	BytesPerFingerprint float64
}

// OrphanStats describes a whole table that lay in the database's folder but that its catalog does not list: Open sets such a file aside,
// under a name that ends with .orphan. It comes from elsewhere, or the catalog is an old copy. Its documents can be added by Ingest; if
// they are not needed the file can be removed.
type OrphanStats struct {
	Name  string
	Bytes int64
}

// Params are the parameters a database was created with; they are the same in all its tables.
type Params struct {
	Tokenizer  int    // version of the tokenizer
	Shingle    int    // words a shingle
	Layout     string // permuted tables
	Sketch     int    // entries of a MinHash sketch, 0 for none
	MinJaccard float64
	Text       bool // texts are kept
	TTL        time.Duration
}

// Metrics counts what a DB has done since it was opened.
type Metrics struct {
	Puts, Deletes, Batches int64
	Queries                int64
	Flushes, Compactions   int64
	BytesFlushed           int64
	BytesCompacted         int64
	WALBytes               int64
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
