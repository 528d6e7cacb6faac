package store

import (
	"sync/atomic"
	"time"

	"github.com/simdb/simdb/compaction"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/engine/internal/wal"
)

// metrics are the counters behind Metrics.
type metrics struct {
	puts, deletes, batches, queries           atomic.Int64
	flushes, compactions, merged              atomic.Int64
	bytesFlushed, bytesLoaded, bytesCompacted atomic.Int64
	bytesMerged, compactTime                  atomic.Int64
	walBytes                                  atomic.Int64
	stalls, stallTime, slowTime               atomic.Int64
}

func (m *metrics) wrote(recs []wal.Record, bytes int) {
	for i := range recs {
		if recs[i].Delete {
			m.deletes.Add(1)
		} else if _, code := view.Owner(recs[i].Doc.ID); !code {
			m.puts.Add(1)
		}
	}
	m.batches.Add(1)
	m.walBytes.Add(int64(bytes))
}

func (m *metrics) flushed(bytes int64) {
	m.flushes.Add(1)
	m.bytesFlushed.Add(bytes)
}

func (m *metrics) compacted(did *compaction.Stats) {
	m.compactions.Add(1)
	m.merged.Add(int64(len(did.Inputs)))
	m.bytesMerged.Add(did.InputBytes)
	m.bytesCompacted.Add(did.Bytes)
	m.compactTime.Add(int64(did.Duration))
}

// Metrics is engine.Metrics, with merges as M.
type Metrics[M any] struct {
	Path   string
	Memory int64

	Puts, Deletes, Batches int64
	Queries                int64
	Flushes, Compactions   int64
	BytesFlushed           int64
	BytesLoaded            int64
	BytesCompacted         int64
	WALBytes               int64
	CatalogBytes           int64

	TablesMerged   int64
	BytesMerged    int64
	CompactionTime time.Duration
	Merging        int
	Running        []M
	Past           []M
	Damaged        []string

	Stalls    int64
	StallTime time.Duration
	SlowTime  time.Duration
}

// MetricsOf returns what the store has done since it was opened, with merges as of makes them.
func MetricsOf[M any](db *Store, of func(compaction.Stats) M) Metrics[M] {
	m, running, catalog := &db.metrics, each(db.merges.Running(), of), int64(0)
	damaged, _ := db.damaged()
	if db.cat != nil {
		catalog = db.cat.Written()
	}
	return Metrics[M]{
		Path: db.Path, Memory: db.Memory,
		Puts: m.puts.Load(), Deletes: m.deletes.Load(), Batches: m.batches.Load(), Queries: m.queries.Load(),
		Flushes: m.flushes.Load(), Compactions: m.compactions.Load(), BytesFlushed: m.bytesFlushed.Load(),
		BytesLoaded: m.bytesLoaded.Load(), BytesCompacted: m.bytesCompacted.Load(), WALBytes: m.walBytes.Load(), CatalogBytes: catalog,
		TablesMerged: m.merged.Load(), BytesMerged: m.bytesMerged.Load(),
		CompactionTime: time.Duration(m.compactTime.Load()), Merging: len(running), Running: running, Past: each(db.merges.Past(), of), Damaged: damaged,
		Stalls: m.stalls.Load(), StallTime: time.Duration(m.stallTime.Load()), SlowTime: time.Duration(m.slowTime.Load()),
	}
}

func each[A, B any](all []A, of func(A) B) (out []B) {
	for _, a := range all {
		out = append(out, of(a))
	}
	return out
}
