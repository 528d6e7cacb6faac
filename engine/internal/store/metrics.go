package store

import (
	"sync/atomic"

	"github.com/simdb/simdb/engine/internal/merges"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/engine/internal/wal"
)

// Counts count the work of a store since it was opened.
type Counts struct {
	Puts, Deletes, Batches, Queries           atomic.Int64
	Flushes, Compactions, Merged              atomic.Int64
	BytesFlushed, BytesLoaded, BytesCompacted atomic.Int64
	BytesMerged, CompactTime                  atomic.Int64
	WALBytes, BytesScrubbed, CatalogBytes     atomic.Int64
	Stalls, StallTime, SlowTime               atomic.Int64
}

func (m *Counts) wrote(recs []wal.Record, bytes int) {
	for i := range recs {
		if recs[i].Delete {
			m.Deletes.Add(1)
		} else if _, code := view.Owner(recs[i].Doc.ID); !code {
			m.Puts.Add(1)
		}
	}
	m.Batches.Add(1)
	m.WALBytes.Add(int64(bytes))
}

func (m *Counts) flushed(bytes int64) {
	m.Flushes.Add(1)
	m.BytesFlushed.Add(bytes)
}

func (m *Counts) compacted(did *merges.Stats) {
	m.Compactions.Add(1)
	m.Merged.Add(int64(len(did.Inputs)))
	m.BytesMerged.Add(did.InputBytes)
	m.BytesCompacted.Add(did.Bytes)
	m.CompactTime.Add(int64(did.Duration))
}

// Merges returns the running merges and the most recently ended ones.
func (db *Store) Merges() (running, past []merges.Stats) {
	return db.merges.Running(), db.merges.Past()
}
