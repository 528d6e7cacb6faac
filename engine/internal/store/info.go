package store

import (
	"strings"
	"time"

	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/sstable"
)

// Stats is what engine.Stats has beside the path and the parameters.
type Stats struct {
	Documents, Fingerprints, Tombstones, Expired, Memtable int64
	DiskBytes                                              int64
	Tables                                                 []TableStats
	Orphans                                                []Orphan
	Seq                                                    uint64
}

// TableStats is engine.TableStats.
type TableStats struct {
	Name                string
	Documents           int64
	Tombstones          int64
	Expired             int64
	Bytes               int64
	MinTime, MaxTime    time.Time
	Layout              string
	IndexBytes          int64
	BytesPerFingerprint float64
}

// An Orphan is engine.OrphanStats.
type Orphan struct {
	Name  string
	Bytes int64
}

// Stats describes what v sees. It counts without reading documents.
func (db *Store) Stats(v *view.View) (Stats, error) {
	st := Stats{Seq: v.Seq}
	for i := range v.Version.Parts {
		p := &v.Version.Parts[i]
		info := p.Info()
		t := TableStats{
			Name: p.Name, Documents: int64(info.Docs), Tombstones: p.Dead.Count(), Bytes: info.Size,
			MinTime: time.UnixMicro(p.Meta.MinTime), MaxTime: time.UnixMicro(p.Meta.MaxTime),
			Layout: p.Params().Layout.String(),
		}
		for _, sec := range info.Sections {
			if sec.Kind == sstable.KindRun {
				t.IndexBytes += sec.Length
			}
		}
		if info.Fingerprints > 0 {
			t.BytesPerFingerprint = float64(t.IndexBytes) / float64(info.Fingerprints)
		}
		var err error
		if t.Expired, err = expired(p, v.Since); err != nil {
			return st, err
		}
		st.Documents += t.Documents - t.Tombstones - t.Expired
		st.Tombstones += t.Tombstones
		st.Expired += t.Expired
		st.Fingerprints += int64(info.Fingerprints) - p.Dead.Below(info.Fingerprints)
		st.DiskBytes += t.Bytes
		st.Tables = append(st.Tables, t)
	}
	for _, m := range v.Mems {
		for _, d := range m.Docs {
			if d.AliveAt(v.Seq) {
				st.Memtable++
				if d.HasFingerprint {
					st.Fingerprints++
				}
			}
		}
	}
	st.Documents += st.Memtable
	err := db.eachFile(func(name string, size int64) {
		if _, sst := files.Number(name, ".sst"); !sst {
			st.DiskBytes += size
		}
		if strings.HasSuffix(name, files.OrphanSuffix) {
			st.Orphans = append(st.Orphans, Orphan{name, size})
		}
	})
	return st, err
}

// expired estimates how many living documents of p are older than since.
func expired(p *view.Part, since int64) (n int64, err error) {
	t := tableOf(p)
	if p.Meta.MinTime < since && since <= p.Meta.MaxTime {
		if t.Times, err = p.TimeSketch(); err != nil {
			return 0, err
		}
	}
	return t.Expired(since), nil
}

// eachFile calls f for every file in the database's folder.
func (db *Store) eachFile(f func(name string, size int64)) error {
	if db.Dir == nil {
		return nil
	}
	names, err := db.Dir.List(".")
	if err != nil {
		return err
	}
	for _, name := range names {
		if info, err := db.Dir.Stat(name); err == nil { // else it has just been removed
			f(name, info.Size)
		}
	}
	return nil
}

// Metrics is engine.Metrics.
type Metrics struct {
	Puts, Deletes, Batches int64
	Queries                int64
	Flushes, Compactions   int64
	BytesFlushed           int64
	BytesLoaded            int64
	BytesCompacted         int64
	WALBytes               int64

	TablesMerged   int64
	BytesMerged    int64
	CompactionTime time.Duration
	Merging        int

	Stalls    int64
	StallTime time.Duration
	SlowTime  time.Duration
}

// Metrics returns what the store has done since it was opened.
func (db *Store) Metrics() Metrics {
	m := &db.metrics
	return Metrics{
		Puts: m.puts.Load(), Deletes: m.deletes.Load(), Batches: m.batches.Load(), Queries: m.queries.Load(),
		Flushes: m.flushes.Load(), Compactions: m.compactions.Load(), BytesFlushed: m.bytesFlushed.Load(),
		BytesLoaded: m.bytesLoaded.Load(), BytesCompacted: m.bytesCompacted.Load(), WALBytes: m.walBytes.Load(),
		TablesMerged: m.merged.Load(), BytesMerged: m.bytesMerged.Load(),
		CompactionTime: time.Duration(m.compactTime.Load()), Merging: len(db.merges.now()),
		Stalls: m.stalls.Load(), StallTime: time.Duration(m.stallTime.Load()), SlowTime: time.Duration(m.slowTime.Load()),
	}
}

// Merges returns the merges that are running, and those that have ended last since the store was
// opened, oldest first.
func (db *Store) Merges() (running, past []MergeStats) {
	running = db.merges.now()
	db.merges.mu.Lock()
	defer db.merges.mu.Unlock()
	return running, db.merges.past
}
