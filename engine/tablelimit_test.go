package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/table"
)

// tableLimit is the limit of documents per table in the tests below.
const tableLimit = 500

// limitedDB returns a database whose tables have at most tableLimit documents, and a function that
// counts the compactions.
func limitedDB(t *testing.T, o Options) (db *DB, compactions func() int64) {
	t.Helper()
	o.NoSketch, o.NoSync, o.maxTableDocs, o.chooseLayout = true, true, tableLimit, smallLayouts
	db, _ = create4test(t, &o)
	return db, func() int64 { return db.Metrics().Compactions }
}

// limitDoc returns document i of the tests below.
func limitDoc(i int) Doc {
	fp := uint64(i) * 0x9e3779b97f4a7c15
	return Doc{ID: fmt.Sprint(i), Fingerprints: []Fingerprint{{fp}}}
}

// checkTables checks that the database has exactly the documents from first to end-1, and returns
// the number of tables, none of which may have more than tableLimit.
func checkTables(t *testing.T, db *DB, first, end int) int {
	t.Helper()
	ctx := context.Background()
	st, err := db.Stats()
	if err != nil || st.Documents != int64(end-first) {
		t.Fatalf("%d documents, want %d: %v", st.Documents, end-first, err)
	}
	for _, s := range st.Tables {
		if s.Documents > tableLimit {
			t.Errorf("%s has %d documents", s.Name, s.Documents)
		}
	}
	for i := first; i < end; i++ {
		want := limitDoc(i)
		if d, err := db.Get(ctx, want.ID); err != nil || d.Fingerprints[0][0] != want.Fingerprints[0][0] {
			t.Fatalf("document %d: %v", i, err)
		}
		found := false
		for m, err := range db.Near(ctx, want.Fingerprints[0][0]^1<<(i%64), 1) {
			must.Do(t, err)
			found = found || m.ID == want.ID
		}
		if !found {
			t.Fatalf("document %d is not found by its fingerprint", i)
		}
	}
	return len(st.Tables)
}

// TestTableLimit adds twenty times the documents of a table in small tables, by writes or by a
// load, with and without merging, and compacts: no table may have too many documents, and few
// tables may be left.
func TestTableLimit(t *testing.T) {
	ctx := context.Background()
	const n = 20 * tableLimit
	cases := []struct {
		name string
		o    Options
		add  func(t *testing.T, db *DB)
	}{
		{"writes", Options{}, limitPuts},
		{"writes without compaction", Options{DisableAutoCompaction: true}, limitPuts},
		{"rotated", Options{MemtableBytes: 1 << 30}, func(t *testing.T, db *DB) {
			for i := range n {
				must.Do(t, db.Put(ctx, limitDoc(i)))
			}
		}},
		{"load", Options{DisableAutoCompaction: true}, func(t *testing.T, db *DB) { limitLoad(t, db, 37) }},
		{"load of one chunk", Options{}, func(t *testing.T, db *DB) { limitLoad(t, db, n) }},
	}
	for i := range exhaustive.Some(t, 2, len(cases)) {
		c := cases[i]
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			db, compactions := limitedDB(t, c.o)
			c.add(t, db)
			must.Do(t, db.Compact(ctx, &CompactOptions{Due: true}))
			tables, due := checkTables(t, db, 0, n), compactions()
			if tables > 2*n/tableLimit+8 || due > n/10 {
				t.Errorf("%d tables after %d compactions", tables, due)
			}
			must.Do(t, db.Compact(ctx, nil))
			tables, all := checkTables(t, db, 0, n), compactions()
			if tables > 2*n/tableLimit || tables < n/tableLimit || all-due > int64(tables) {
				t.Errorf("%d tables after %d compactions of all", tables, all-due)
			}
			if err := db.Compact(ctx, nil); err != nil || compactions() != all {
				t.Errorf("%d compactions of what has been compacted: %v", compactions()-all, err)
			}
			t.Logf("%d tables, %d and %d compactions", tables, due, all-due)

			// With a tenth of the documents, which exceed a table, fewer tables suffice.
			for i := range n - n/10 {
				must.Do(t, db.Delete(ctx, fmt.Sprint(i)))
			}
			must.Do(t, db.Compact(ctx, nil))
			if tables := checkTables(t, db, n-n/10, n); tables > 4 {
				t.Errorf("%d tables of %d documents", tables, n/10)
			}
		})
	}
}

// TestTableBytes adds twenty times the bytes of a table, and replaces half of the documents: no
// merge may write a larger table, and few tables may be left. With a larger limit, Compact leaves
// one table.
func TestTableBytes(t *testing.T) {
	ctx := context.Background()
	const limit, n, each = 200_000, 100_000, 2_000
	db, path := create4test(t, &Options{NoText: true, NoSketch: true, NoSync: true, MaxTableBytes: limit, DisableAutoCompaction: true})
	for i := range n / each {
		loadTable(t, db, i*each, (i+1)*each)
	}
	for i := range n / each / 2 {
		loadTable(t, db, 2*i*each, (2*i+1)*each)
	}
	check := func(db *DB, most int) {
		t.Helper()
		st, err := db.Stats()
		if err != nil || st.Documents != n {
			t.Fatalf("%d documents, %v", st.Documents, err)
		}
		bytes := int64(0)
		for _, s := range st.Tables {
			if bytes += s.Bytes; s.Bytes > limit && most > 1 {
				t.Errorf("%s has %d bytes", s.Name, s.Bytes)
			}
		}
		t.Logf("%d tables of %d bytes", len(st.Tables), bytes)
		if least := int(bytes / limit); len(st.Tables) > most || len(st.Tables) < least && most > 1 {
			t.Errorf("%d tables of %d bytes", len(st.Tables), bytes)
		}
	}
	for _, due := range []bool{true, false} {
		must.Do(t, db.Compact(ctx, &CompactOptions{Due: due}))
		check(db, 2*n*50/limit+8)
	}
	must.Do(t, db.Close())
	db = open4test(t, path, nil)
	must.Do(t, db.Compact(ctx, nil))
	check(db, 1)
}

// limitPuts puts twenty times the documents of a table, and flushes a few at a time.
func limitPuts(t *testing.T, db *DB) {
	r := rand.New(rand.NewPCG(8, 8))
	for i := range 20 * tableLimit {
		must.Do(t, db.Put(t.Context(), limitDoc(i)))
		if r.IntN(60) == 0 {
			must.Do(t, db.Flush(t.Context()))
		}
	}
	must.Do(t, db.Flush(t.Context()))
}

// limitLoad loads twenty times the documents of a table, and flushes after every each documents.
func limitLoad(t *testing.T, db *DB, each int) {
	l, err := db.NewLoader(t.Context(), &LoadOptions{})
	for i := range 20 * tableLimit {
		if err == nil {
			err = l.Add(limitDoc(i))
		}
		if err == nil && (i+1)%each == 0 {
			err = l.l.Flush()
		}
	}
	if err == nil {
		_, err = l.Close()
	}
	must.Do(t, err)
}

// TestPackLimit packs as many documents as a table can have, and one more.
func TestPackLimit(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	db, _ := limitedDB(t, Options{DisableAutoCompaction: true})
	for i := range tableLimit + 10 {
		must.Do(t, db.Put(ctx, limitDoc(i)))
		if i%100 == 0 {
			must.Do(t, db.Flush(ctx))
		}
	}
	for i := range 9 {
		must.Do(t, db.Delete(ctx, fmt.Sprint(50*i)))
	}
	path := filepath.Join(dir, "packed.sst")
	err := db.Pack(ctx, path, nil)
	if !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), fmt.Sprintf("%d documents for one table; the limit is %d", tableLimit+1, tableLimit)) {
		t.Errorf("one too many: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("files after a refusal: %v, %v", left, err)
	}
	must.Do(t, db.Delete(ctx, fmt.Sprint(tableLimit)))
	must.Do(t, db.Pack(ctx, path, nil))
	packed := open4test(t, path, nil)
	if st, err := packed.Stats(); err != nil || st.Documents != tableLimit {
		t.Errorf("%d documents packed: %v", st.Documents, err)
	}
}

// smallLayouts is table.ChooseLayout for small tables, so that tables in a test have different
// layouts.
func smallLayouts(n int64) table.Layout {
	switch {
	case n <= 10:
		return table.Layout{Blocks: 8, Lead: 1}
	case n <= 40:
		return table.Layout{Blocks: 4, Lead: 1}
	case n <= 150:
		return table.Layout{Blocks: 3, Lead: 1}
	}
	return table.Layout{Blocks: 2, Lead: 1}
}
