package engine

import (
	"context"
	"strings"
	"time"

	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/table"
)

// QueryStats counts the work of queries: see SearchOptions.Stats.
type QueryStats struct {
	Probes     int64 `json:"probes"`     // ranges of permuted tables looked up; postings read
	Candidates int64 `json:"candidates"` // fingerprints compared, or sketches scored
	Matches    int64 `json:"matches"`    // matching documents, before other predicates
	Tables     int64 `json:"tables"`     // tables and memtables searched
}

// Stats describes a database.
type Stats struct {
	Path         string       `json:"path"`
	Documents    int64        `json:"documents"`    // visible: not deleted, replaced or (by estimate) expired
	Fingerprints int64        `json:"fingerprints"` // of documents neither deleted nor replaced
	Tombstones   int64        `json:"tombstones"`   // deleted or replaced documents still in tables
	Expired      int64        `json:"expired"`      // expired documents not yet dropped; in tables estimated from samples of times
	Tables       []TableStats `json:"tables"`
	Memtable     int64        `json:"memtable"` // documents not yet in a table, expired ones included
	DiskBytes    int64        `json:"disk_bytes"`
	// Orphans has the sizes in bytes of intact tables in the folder of the database that its catalog
	// does not list, by the names of their files: such a table comes from elsewhere, or the catalog is
	// an old copy. Open renames such a file to a name that ends with .orphan. Ingest can add its
	// documents; if they are not needed the file can be removed.
	Orphans   map[string]int64 `json:"orphans,omitempty"`
	Options   Options          `json:"options"`   // DB.Options
	Tokenizer int              `json:"tokenizer"` // version of the tokenizer
	Seq       uint64           `json:"seq"`       // number of the last write
	// SpaceAmplification is the number of documents in tables per visible document: 1 if no document
	// in the tables is dead or expired, 0 if no document is visible.
	SpaceAmplification float64 `json:"space_amplification"`
}

// TableStats describes one table file.
type TableStats struct {
	Name                string    `json:"name"`
	Documents           int64     `json:"documents"`
	Tombstones          int64     `json:"tombstones"`
	Expired             int64     `json:"expired"` // estimated: see Stats.Expired
	Bytes               int64     `json:"bytes"`
	MinTime             time.Time `json:"min_time"`
	MaxTime             time.Time `json:"max_time"`
	Layout              string    `json:"layout"`      // of the permuted tables
	IndexBytes          int64     `json:"index_bytes"` // of the permuted tables, and of words after the first
	BytesPerFingerprint float64   `json:"bytes_per_fingerprint"`
	// Damage says why merges leave the table out: a merge, Check or a scrub has found it damaged
	// since the database was opened. DB.Repair rebuilds it.
	Damage string `json:"damage,omitempty"`
}

// Metrics describes how a DB was opened, and counts its work since.
type Metrics struct {
	Path    string `json:"path"`    // as given to Open
	Created bool   `json:"created"` // by this DB: if several open a new path at once, by exactly one of them
	Memory  int64  `json:"memory"`  // bytes of results that a query may hold: Options.Memory
	// IndexMemory is how many bytes the indexes of small tables and the filters of IDs need: at most
	// 64 MiB, and a sixteenth of Memory.
	IndexMemory int64 `json:"index_memory"`

	CacheSize   int64 `json:"cache_size"`   // bytes that decompressed texts and fields may occupy: Options.Cache
	CacheBytes  int64 `json:"cache_bytes"`  // bytes that they occupy
	CacheHits   int64 `json:"cache_hits"`   // blocks of them that reads have found
	CacheMisses int64 `json:"cache_misses"` // and that reads had to decompress

	Puts           int64 `json:"puts"`
	Deletes        int64 `json:"deletes"`
	Batches        int64 `json:"batches"`
	Queries        int64 `json:"queries"`
	Flushes        int64 `json:"flushes"`
	Compactions    int64 `json:"compactions"`
	BytesFlushed   int64 `json:"bytes_flushed"`   // size of tables written from memtables
	BytesLoaded    int64 `json:"bytes_loaded"`    // size of tables that were loaded or ingested
	BytesCompacted int64 `json:"bytes_compacted"` // size of tables that merges wrote
	WALBytes       int64 `json:"wal_bytes"`
	BytesScrubbed  int64 `json:"bytes_scrubbed"` // verified in the background: Options.ScrubRate
	CatalogBytes   int64 `json:"catalog_bytes"`  // written by changes of the catalog, mostly tombstones

	TablesMerged   int64         `json:"tables_merged"`      // inputs of Compactions
	BytesMerged    int64         `json:"bytes_merged"`       // size of the inputs of Compactions
	CompactionTime time.Duration `json:"compaction_time_ns"` // sum over all merges, which may overlap
	Merging        int           `json:"merging"`            // number of running merges
	Running        []Event       `json:"running,omitempty"`  // running merges, the oldest first
	Past           []Event       `json:"past,omitempty"`     // up to 16 finished merges, the newest last
	Damaged        []string      `json:"damaged,omitempty"`  // tables that merges leave out as unreadable

	Stalls    int64         `json:"stalls"`        // writes that waited for a flush or for a merge
	StallTime time.Duration `json:"stall_time_ns"` // total wait of Stalls
	SlowTime  time.Duration `json:"slow_time_ns"`  // total delay of writes while there were many tables

	// WriteAmplification is how many bytes of tables and of the catalog were written per byte of
	// tables that were flushed, loaded or ingested: slightly more than 1 if nothing was merged, 0 if
	// nothing was added.
	WriteAmplification float64 `json:"write_amplification"`
}

// LoadOptions are the options of NewLoader.
type LoadOptions struct {
	Replace     bool  // replace stored documents; otherwise Add refuses them with ErrExists
	MemoryBytes int64 // write a table when documents occupy about this much; 0 means 256 MiB
	Workers     int   // goroutines that compute fingerprints; 0 means GOMAXPROCS
}

// LoadStats counts the work of a Loader.
type LoadStats struct {
	Documents int64 // documents stored, without those replaced later in the same load
	Empty     int64 // documents without words, which have no fingerprint
	Replaced  int64 // documents replaced that were stored before, or earlier in the same load
	Tables    int
	Bytes     int64 // size of the tables written
}

// Stats describes the current state of the database. It counts without reading documents.
func (db *DB) Stats() (Stats, error) {
	return read(context.Background(), &db.Reader, func(s *Snapshot) (Stats, error) {
		st, err := describeView(context.Background(), &s.v)
		st.Path, st.Options, st.Tokenizer = db.s.Path, db.Options(), int(db.s.Params.Tokenizer)
		return st, err
	})
}

// describeView returns the figures of the database that v sees.
func describeView(ctx context.Context, v *view.View) (Stats, error) {
	st := Stats{Seq: v.Seq, Tables: []TableStats{}, Orphans: map[string]int64{}}
	for i := range v.Version.Parts {
		p := &v.Version.Parts[i]
		info := p.Info()
		t := TableStats{
			Name: p.Name, Documents: int64(info.Docs), Tombstones: p.Dead.Count(), Bytes: info.Size,
			MinTime: time.UnixMicro(p.Meta.MinTime), MaxTime: time.UnixMicro(p.Meta.MaxTime),
			Layout: p.Params().Layout.String(),
		}
		for _, sec := range info.Sections {
			if sec.Kind == table.KindRun || sec.Kind == table.KindWords {
				t.IndexBytes += sec.Length
			}
		}
		if damage := p.Damage.Load(); damage != nil {
			t.Damage = damage.Error()
		}
		if info.Fingerprints > 0 {
			t.BytesPerFingerprint = float64(t.IndexBytes) / float64(info.Fingerprints)
		}
		var err error
		if t.Expired, err = expired(p, v.Life); err != nil {
			return st, err
		}
		none, err := v.NoDocuments(ctx, p, v.Seq)
		if err != nil {
			return st, err
		}
		st.Documents += t.Documents - int64(none.GetCardinality()) - t.Expired
		if v.Several {
			codes, err := p.Codes(ctx)
			if err != nil {
				return st, err
			}
			t.Documents -= int64(codes.GetCardinality())
		}
		st.Tombstones += t.Tombstones
		st.Expired += t.Expired
		st.Fingerprints += int64(info.Fingerprints) - p.Dead.Below(info.Fingerprints)
		st.DiskBytes += t.Bytes
		st.Tables = append(st.Tables, t)
	}
	if st.Documents > 0 {
		st.SpaceAmplification = float64(st.Documents+st.Tombstones+st.Expired) / float64(st.Documents)
	}
	st.countMemtables(v)
	err := eachFile(v.Dir, func(name string, size int64) {
		if _, sst := files.Number(name, ".sst"); !sst {
			st.DiskBytes += size
		}
		if strings.HasSuffix(name, files.OrphanSuffix) {
			st.Orphans[name] = size
		}
	})
	return st, err
}

// countMemtables adds the documents of the memtables.
func (st *Stats) countMemtables(v *view.View) {
	for _, m := range v.Mems {
		for _, d := range m.Docs {
			if d.AliveAt(v.Seq) {
				if _, code := view.Owner(d.ID); !code {
					st.Memtable++
					if v.MemAlive(d) {
						st.Documents++
					} else {
						st.Expired++
					}
				}
				if d.HasFingerprint {
					st.Fingerprints++
				}
			}
		}
	}
}

// expired estimates how many living documents of p have expired.
func expired(p *view.Part, life view.Life) (n int64, err error) {
	t, since := p.ForPolicy(), life.Since
	if n, err = p.ExpiredThemselves(life.Now); err != nil {
		return 0, err
	}
	t.Dead += n
	if p.Meta.MinTime < since && since <= p.Meta.MaxTime {
		if t.Times, err = p.TimeSketch(); err != nil {
			return 0, err
		}
	}
	return n + t.Expired(since), nil
}

// eachFile calls f for every file in dir, which is nil for a single table file.
func eachFile(dir *files.Folder, f func(name string, size int64)) error {
	if dir == nil {
		return nil
	}
	names, err := dir.List(".")
	if err != nil {
		return err
	}
	for _, name := range names {
		if info, err := dir.Stat(name); err == nil { // else it has just been removed
			f(name, info.Size)
		}
	}
	return nil
}
