package engine

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/simdb/simdb/internal/must"
)

// valueID returns the ID of a value by its number.
func valueID(i int) string { return fmt.Sprintf("user/%08d/profile", i) }

// getAll reads n documents by ID, and compares them with those that putValues stored.
func getAll(t *testing.T, db *DB, n int) {
	t.Helper()
	for i := range n {
		d, err := db.Get(context.Background(), valueID(i))
		if want := fmt.Sprintf(`{"n":%d}`, i); err != nil || string(d.Fields) != want || d.Text != "" {
			t.Fatalf("%s is %q, %q, %v", valueID(i), d.Text, d.Fields, err)
		}
		copy(d.Fields, `{"changed"`) // which must not change the cached block
	}
}

func putValues(t *testing.T, db *DB, from, to int) {
	t.Helper()
	var b Batch
	for i := from; i < to; i++ {
		b.Put(Doc{ID: valueID(i), Fields: fmt.Appendf(nil, `{"n":%d}`, i)})
	}
	must.Do(t, db.Apply(context.Background(), &b))
	must.Do(t, db.Flush(context.Background()))
}

// TestCache reads a database of several tables, after a merge, a table and a set of tables: all
// tables share a cache, which the blocks of closed tables leave.
func TestCache(t *testing.T) {
	ctx := context.Background()
	db, path := create4test(t, &Options{DisableAutoCompaction: true, Cache: 1 << 20, NoSync: true})
	for i := range 3 {
		putValues(t, db, 100*i, 100*(i+1))
	}
	cached := func(db *DB, hits, misses int64) (bytes int64) {
		t.Helper()
		m := db.Metrics()
		if m.CacheHits != hits || m.CacheMisses != misses || m.CacheBytes > m.CacheSize {
			t.Errorf("%d hits and %d misses, not %d and %d; %d bytes of %d", m.CacheHits, m.CacheMisses, hits, misses, m.CacheBytes, m.CacheSize)
		}
		return m.CacheBytes
	}
	getAll(t, db, 300)
	getAll(t, db, 300)
	cached(db, 597, 3)
	old := must.Get(db.Snapshot())(t)
	must.Do(t, db.Compact(ctx, nil))
	getAll(t, db, 300)
	both := cached(db, 896, 4) // a merge lays records in the order of IDs, here in one block
	if d, err := old.Get(ctx, valueID(7)); err != nil || string(d.Fields) != `{"n":7}` {
		t.Errorf("from a snapshot: %q, %v", d.Fields, err)
	}
	must.Do(t, old.Close())
	if after := cached(db, 897, 4); after <= 0 || after >= both*2/3 {
		t.Errorf("%d bytes are cached once the merged tables are closed, %d before", after, both)
	}
	var parts []string
	for i := range 3 {
		part := filepath.Join(filepath.Dir(path), fmt.Sprintf("%d.sst", i))
		must.Do(t, db.Pack(ctx, part, nil))
		parts = append(parts, part)
	}
	for _, o := range []*Options{{Cache: 1 << 20}, {Cache: -1}} {
		for _, paths := range [][]string{parts[:1], parts} {
			set := must.Get(OpenSet(paths, o))(t)
			getAll(t, set, 300)
			if o.Cache > 0 {
				cached(set, 299, 1)
			} else if m := set.Metrics(); m.CacheSize != 0 || m.CacheBytes != 0 || m.CacheMisses != 0 {
				t.Errorf("without a cache: %+v", m)
			}
			must.Do(t, set.Close())
			if m := set.Metrics(); m.CacheBytes != 0 {
				t.Errorf("a closed set of %d tables has %d bytes in the cache", len(paths), m.CacheBytes)
			}
		}
	}
	small, _ := create4test(t, &Options{Memory: 64 << 10})
	if m := small.Metrics(); m.CacheSize != 16<<10 {
		t.Errorf("the default with little memory is %d", m.CacheSize)
	}
	if m := db.Metrics(); m.CacheSize != 1<<20 {
		t.Errorf("the cache has %d bytes", m.CacheSize)
	}
}
