package store

import (
	"sync/atomic"
	"time"
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

func (m *metrics) wrote(recs []record, bytes int) {
	deletes := int64(0)
	for _, r := range recs {
		if r.del {
			deletes++
		}
	}
	m.deletes.Add(deletes)
	m.puts.Add(int64(len(recs)) - deletes)
	m.batches.Add(1)
	m.walBytes.Add(int64(bytes))
}

func (m *metrics) flushed(bytes int64) {
	m.flushes.Add(1)
	m.bytesFlushed.Add(bytes)
}

func (m *metrics) compacted(did *MergeStats) {
	m.compactions.Add(1)
	m.merged.Add(int64(len(did.Inputs)))
	m.bytesMerged.Add(did.InputBytes)
	m.bytesCompacted.Add(did.Bytes)
	m.compactTime.Add(int64(did.Duration))
}

// MergeStats is engine.MergeStats.
type MergeStats struct {
	Inputs         []uint64
	InputDocuments int64
	InputBytes     int64
	Output         uint64
	Documents      int64
	Bytes          int64
	Reason         string
	Started        time.Time
	Duration       time.Duration
	Done           float64
	Err            error
}
