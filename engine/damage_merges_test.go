package engine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/simdb/simdb/internal/must"
)

// TestMergesBesideDamage damages the only table of a database, in each section, and writes many
// more: merges must leave that table out, and STATS and Metrics must say so. The table may be
// dropped only if none of its documents is left.
func TestMergesBesideDamage(t *testing.T) {
	ctx := t.Context()
	o := &Options{NoSketch: true, NoSync: true, MemtableBytes: 64 << 10}
	made := filepath.Join(t.TempDir(), "made.simdb")
	db := must.Get(Create(made, o))(t)
	fill := func(db *DB, from, to int) error {
		for i := from; i < to; i++ {
			if err := db.Put(ctx, Doc{ID: fmt.Sprint("id", i), Text: fmt.Sprint("text ", i*i), Fingerprints: []Fingerprint{{uint64(i) * 0x9e3779b97f4a7c15}}}); err != nil {
				return err
			}
		}
		return nil
	}
	must.Do(t, errors.Join(fill(db, 0, 2000), db.Compact(ctx, nil), db.Close()))
	apart := 0
	for what := range flipEach(t, made, "", 0) {
		if strings.HasPrefix(what, "ids") || strings.HasPrefix(what, "names") {
			continue // writes are refused, too: see TestDamagedSections
		}
		path := filepath.Join(t.TempDir(), "x.simdb")
		must.Do(t, os.CopyFS(path, os.DirFS(made)))
		db := must.Get(Open(path, o))(t)
		most := 0
		for from := 10_000; from < 16_000; from += 1000 {
			if err := errors.Join(fill(db, from, from+1000), db.Flush(ctx)); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			waitIdle(t, db)
			most = max(most, len(must.Get(filepath.Glob(filepath.Join(path, "*.sst")))(t)))
		}
		if most > 8 {
			t.Errorf("%s: %d tables", what, most)
		}
		err := db.Compact(ctx, nil)
		m, tables := db.Metrics(), must.Get(db.Stats())(t).Tables
		marked := slices.IndexFunc(tables, func(s TableStats) bool { return s.Damage != "" })
		switch {
		case err == nil && (m.Damaged != nil || len(tables) != 1):
			t.Errorf("%s: harmless, but %v, %d tables", what, m.Damaged, len(tables))
		case err != nil:
			apart++
			if !isDamage(err) || len(m.Damaged) != 1 || len(tables) != 2 || marked < 0 || tables[marked].Name != m.Damaged[0] {
				t.Errorf("%s: %v apart, %+v: %v", what, m.Damaged, tables, err)
			}
			// One of two tables is excluded; the other is merged repeatedly.
			if err := errors.Join(fill(db, 20_000, 20_100), db.Compact(ctx, &CompactOptions{Due: true})); err != nil {
				t.Errorf("%s: %v", what, err)
			}
			_, err = db.Prune(ctx, time.Now(), nil)
			if n := must.Get(db.Stats())(t).Tables; err == nil && len(n) > 0 {
				t.Errorf("%s: %d tables are left after all was pruned", what, len(n))
			}
		}
		if err := db.Close(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	if apart < 4 {
		t.Errorf("%d damages were set apart", apart)
	}
}

// waitIdle waits until background compaction has nothing to do.
func waitIdle(t *testing.T, db *DB) {
	t.Helper()
	for range 3000 {
		if db.s.Idle() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("compaction does not end")
}

// TestExpiryBesideOldWrite leaves one early write in the log, while loads arrive and expire: their
// tables must be dropped, even in a database that is opened for each load.
func TestExpiryBesideOldWrite(t *testing.T) {
	ctx := t.Context()
	now, pass := passing(time.Unix(1_000_000, 0))
	o := &Options{NoSketch: true, TTL: time.Hour, now: now, DisableAutoCompaction: true}
	path := filepath.Join(t.TempDir(), "x.simdb")
	db := must.Get(Create(path, o))(t)
	must.Do(t, db.Put(ctx, Doc{ID: "one", Text: "a document"}))
	for round := range 7 {
		var docs []Doc
		for i := range 500 {
			docs = append(docs, Doc{ID: fmt.Sprint(i), Text: fmt.Sprint("text ", i), Time: now()})
		}
		loadStored(t, db, docs...)
		if round%2 == 1 {
			must.Do(t, db.Close())
			db = must.Get(Open(path, o))(t)
		}
		must.Do(t, db.Compact(ctx, &CompactOptions{Due: true}))
		if n := len(must.Get(db.Stats())(t).Tables); n > 2 {
			t.Errorf("round %d: %d tables", round, n)
		}
		pass(2 * time.Hour)
	}
	must.Do(t, db.Close())
	auto := *o
	auto.DisableAutoCompaction = false
	db = must.Get(Open(path, &auto))(t)
	defer db.Close()
	for range 200 {
		waitIdle(t, db)
		if s := must.Get(db.Stats())(t); len(s.Tables) == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%+v are left of documents that have all expired", must.Get(db.Stats())(t).Tables)
}
