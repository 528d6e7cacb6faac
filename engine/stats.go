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

// NearPlan is how one Near query is carried out: a part for each table and memtable.
type NearPlan struct {
	K     int
	Parts []PartPlan
}

// Cost returns the estimated cost of the query in nanoseconds on one core: the sum over its parts.
func (p NearPlan) Cost() float64 {
	sum := 0.0
	for _, part := range p.Parts {
		sum += part.Cost
	}
	return sum
}

// PlanMethod is how a query finds its candidates in one table or memtable.
type PlanMethod string

// The methods of a PartPlan.
const (
	PlanProbe    PlanMethod = "probe"    // Near: ranges of permuted tables, or values of blocks in a memtable, are looked up
	PlanPostings PlanMethod = "postings" // Jaccard: postings of the query's rarest hashes are read
	PlanScan     PlanMethod = "scan"     // all fingerprints, or all bitmaps of sketches, are compared
)

// PartPlan is the plan of a Near or Jaccard query for one table or memtable.
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
	Shingle    int    // words a shingle
	Layout     Layout // of the permuted tables of every table, or LayoutBySize
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
