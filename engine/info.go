package engine

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/simdb/simdb/sstable"
)

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

// Metrics returns what the DB has done since it was opened.
func (db *DB) Metrics() Metrics {
	m := &db.metrics
	return Metrics{
		Puts: m.puts.Load(), Deletes: m.deletes.Load(), Batches: m.batches.Load(), Queries: m.queries.Load(),
		Flushes: m.flushes.Load(), Compactions: m.compactions.Load(), BytesFlushed: m.bytesFlushed.Load(),
		BytesCompacted: m.bytesCompacted.Load(), WALBytes: m.walBytes.Load(),
	}
}

// Params returns the parameters that the database was created with.
func (db *DB) Params() Params {
	p := db.params
	return Params{
		Tokenizer: int(p.Tokenizer), Shingle: int(p.Shingle), Layout: p.Layout.String(), Sketch: int(p.Sketch),
		MinJaccard: p.MinJaccard, Text: p.StoreText, TTL: db.ttl,
	}
}

// Stats describes the database as it is now. It counts without reading documents.
func (db *DB) Stats() (Stats, error) {
	return withSnapshot(db, (*Snapshot).stats)
}

func (s *Snapshot) stats() (Stats, error) {
	db := s.db
	st := Stats{Path: db.path, Params: db.Params(), Seq: s.seq}
	for i := range s.version.parts {
		p := &s.version.parts[i]
		info := p.Info()
		t := TableStats{
			Name: p.name, Documents: int64(info.Docs), Tombstones: p.dead.count(), Bytes: info.Size,
			MinTime: time.UnixMicro(p.meta.MinTime), MaxTime: time.UnixMicro(p.meta.MaxTime),
		}
		for _, sec := range info.Sections {
			if sec.Kind == sstable.KindRun {
				t.IndexBytes += sec.Length
			}
		}
		if info.Fingerprints > 0 {
			t.BytesPerFingerprint = float64(t.IndexBytes) / float64(info.Fingerprints)
		}
		st.Documents += t.Documents - t.Tombstones
		st.Tombstones += t.Tombstones
		st.Fingerprints += int64(info.Fingerprints) - p.dead.below(info.Fingerprints)
		st.DiskBytes += t.Bytes
		st.Tables = append(st.Tables, t)
	}
	for _, m := range s.mems {
		for _, d := range m.docs {
			if d.aliveAt(s.seq) {
				st.Memtable++
				if d.HasFingerprint {
					st.Fingerprints++
				}
			}
		}
	}
	st.Documents += st.Memtable
	err := db.eachFile(func(name string, size int64) {
		if _, sst := fileNumber(name, ".sst"); !sst {
			st.DiskBytes += size
		}
		if strings.HasSuffix(name, orphanSuffix) {
			st.Orphans = append(st.Orphans, OrphanStats{name, size})
		}
	})
	return st, err
}

// eachFile calls f for every file in the database's folder.
func (db *DB) eachFile(f func(name string, size int64)) error {
	if db.dir == nil {
		return nil
	}
	names, err := db.dir.List(".")
	if err != nil {
		return err
	}
	for _, name := range names {
		if info, err := db.dir.Stat(name); err == nil { // else it has just been removed
			f(name, info.Size)
		}
	}
	return nil
}

// Check verifies everything that is stored: every checksum of every table, that its sections agree with each other, the
// catalog, and the logs. It goes on after a problem and reports all it finds; the error is for what kept it from checking.
func (db *DB) Check(ctx context.Context, progress func(Progress)) (CheckReport, error) {
	s, err := db.Snapshot()
	if err != nil {
		return CheckReport{}, err
	}
	defer s.Close()
	var r CheckReport
	var done, total int64
	for _, p := range s.version.parts {
		total += p.meta.Size
	}
	for i := range s.version.parts {
		p := &s.version.parts[i]
		err := s.safely(ctx, func() error {
			return p.Verify(ctx, func(n, of int64) {
				if progress != nil && of > 0 { // bytes are looked at more than once
					n = int64(float64(n) / float64(of) * float64(p.meta.Size))
					progress(Progress{Stage: "check", Done: done + n, Total: total, Unit: "bytes"})
				}
			})
		})
		if ctx.Err() != nil {
			return r, ctx.Err()
		}
		if err != nil {
			r.Problems = append(r.Problems, err)
		}
		done += p.meta.Size
		r.Tables++
		r.Documents += int64(p.meta.Docs) - p.dead.count()
		r.Bytes += p.meta.Size
	}
	r.Problems = append(r.Problems, s.duplicateIDs(ctx)...)
	err = s.db.eachFile(func(name string, size int64) {
		if strings.HasSuffix(name, orphanSuffix) {
			r.Orphans = append(r.Orphans, OrphanStats{name, size})
		}
	})
	if err != nil {
		return r, err
	}
	for _, m := range s.mems { // their logs were verified as they were read
		for _, d := range m.docs {
			if s.memAlive(d) {
				r.Documents++
			}
		}
	}
	return r, ctx.Err()
}

// duplicateIDs checks that no ID is alive in two places.
func (s *Snapshot) duplicateIDs(ctx context.Context) (problems []error) {
	for i := range s.version.parts {
		p := &s.version.parts[i]
		err := s.safely(ctx, func() error {
			for doc := range p.NumDocs() {
				if p.dead.deadAt(doc, s.seq) {
					continue
				}
				id, err := p.ID(doc)
				if err != nil {
					return err
				}
				at, ok, err := s.version.locate(string(id), s.seq)
				if err != nil {
					return err
				}
				if !ok || at.part != p || at.doc != doc {
					problems = append(problems, &CorruptionError{File: p.name, Section: "ids", Offset: -1,
						Err: fmt.Errorf("document %s is alive in two places", quoteID(string(id)))})
				}
			}
			return ctx.Err()
		})
		if err != nil {
			problems = append(problems, err)
		}
	}
	return problems
}
