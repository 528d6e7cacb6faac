package store

import "sync/atomic"

// metrics are the counters behind Metrics.
type metrics struct {
	puts, deletes, batches, queries atomic.Int64
	flushes, compactions            atomic.Int64
	bytesFlushed, bytesCompacted    atomic.Int64
	walBytes                        atomic.Int64
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

func (m *metrics) compacted(bytes int64) {
	m.compactions.Add(1)
	m.bytesCompacted.Add(bytes)
}

// Metrics is engine.Metrics.
type Metrics struct {
	Puts, Deletes, Batches int64
	Queries                int64
	Flushes, Compactions   int64
	BytesFlushed           int64
	BytesCompacted         int64
	WALBytes               int64
}
