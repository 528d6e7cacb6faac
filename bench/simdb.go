package main

import (
	"context"
	"strconv"
	"time"

	"github.com/simdb/simdb/engine"
)

var ctx = context.Background()

// database is loaded on first use, once for all contestants and distances.
type database struct {
	path   string
	layout string
	cost   time.Duration // processor time of the load; 0 before the load
}

func (d *database) load(fps []uint64) error {
	if d.cost > 0 {
		return nil
	}
	start := cpuTime()
	err := loadDatabase(d.path, d.layout, fps)
	d.cost = max(cpuTime()-start, 1)
	return err
}

// buildTime returns the processor time for building the index.
func (d *database) buildTime() time.Duration { return d.cost }

// simdbIndex is a database, compacted to one table and reopened from disk. The IDs of documents
// are their numbers.
type simdbIndex struct {
	*database
	db *engine.DB
}

func (d *database) build(_ string, fps []uint64, _ int) (index, error) {
	if err := d.load(fps); err != nil {
		return nil, err
	}
	db, err := engine.Open(d.path, &engine.Options{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	return &simdbIndex{d, db}, nil
}

// loadDatabase bulk-loads fps into a new database and compacts it.
func loadDatabase(path, layout string, fps []uint64) error {
	db, err := engine.Create(path, &engine.Options{Layout: string(layout), NoText: true, NoSketch: true, DisableAutoCompaction: true})
	if err != nil {
		return err
	}
	defer db.Close()
	l, err := db.NewLoader(ctx, &engine.LoadOptions{MemoryBytes: 1 << 30})
	if err != nil {
		return err
	}
	now := time.Now()
	for i := range fps {
		if err := l.Add(engine.Doc{ID: strconv.Itoa(i), Fingerprints: []engine.Fingerprint{{fps[i]}}, Time: now}); err != nil {
			l.Abort()
			return err
		}
	}
	if _, err := l.Close(); err != nil {
		return err
	}
	if err := db.Compact(ctx, nil); err != nil {
		return err
	}
	return db.Close()
}

func (s *simdbIndex) Near(q uint64, k int, found func(uint32)) (int, error) {
	// One variable that the loop changes is one allocation; a return in the loop would be three.
	var r struct {
		n   int
		err error
	}
	for m, err := range s.db.Near(ctx, q, k) {
		if err != nil {
			r.err = err
			break
		}
		r.n++
		if found == nil {
			continue
		}
		var doc uint64
		if doc, r.err = strconv.ParseUint(m.ID, 10, 32); r.err != nil {
			break
		}
		found(uint32(doc))
	}
	return r.n, r.err
}

// Bytes returns the size of the permuted tables. It excludes IDs, times and everything else that
// the other contestants don't have.
func (s *simdbIndex) Bytes() (n int64, err error) {
	stats, err := s.db.Stats()
	for _, t := range stats.Tables {
		n += t.IndexBytes
	}
	return n, err
}

func (s *simdbIndex) Close() error { return s.db.Close() }
