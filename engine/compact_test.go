package engine

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/simdb/simdb/internal/must"
)

// TestCloseMerges repeatedly opens a database of many small tables and closes it immediately: this
// must suffice to merge them, however little time the background has.
func TestCloseMerges(t *testing.T) {
	for range 20 {
		db, path := create4test(t, &Options{NoSync: true, DisableAutoCompaction: true})
		for i := range uint64(9) {
			put(t, db, fmt.Sprint(i), i)
			must.Do(t, db.Flush(context.Background()))
		}
		var err error
		for _, o := range []*Options{nil, {DisableAutoCompaction: true}} {
			must.Do(t, db.Close())
			if db, err = Open(path, o); err != nil {
				t.Fatal(err)
			}
		}
		defer db.Close()
		if st, err := db.Stats(); err != nil || st.Documents != 9 || len(st.Tables) > 4 {
			t.Fatalf("%d tables of %d documents: %v", len(st.Tables), st.Documents, err)
		}
	}
}

// TestCompactDue leaves ten tables. It checks that everything that the policy picks is merged, that
// nothing is lost, and that a cancelled context leaves the tables unchanged.
func TestCompactDue(t *testing.T) {
	ctx := context.Background()
	db, _ := create4test(t, &Options{NoText: true, NoSketch: true, NoSync: true, DisableAutoCompaction: true})
	l := must.Get(db.NewLoader(ctx, &LoadOptions{}))(t)
	const n, tables = 5000, 10
	for i := range uint64(n) {
		fp := i * 0x9e3779b97f4a7c15
		must.Do(t, l.Add(Doc{ID: fmt.Sprint(i), Fingerprints: []Fingerprint{{fp}}}))
		if (i+1)%(n/tables) == 0 {
			must.Do(t, l.l.Flush())
		}
	}
	must.Get(l.Close())(t)
	count := func() int {
		st, err := db.Stats()
		if err != nil || st.Documents != n {
			t.Fatalf("%+v, %v", st, err)
		}
		return len(st.Tables)
	}
	if got := count(); got != tables {
		t.Fatalf("%d tables to begin with", got)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if err := db.Compact(ended, &CompactOptions{Due: true}); !errors.Is(err, context.Canceled) || count() != tables {
		t.Fatalf("%d tables after a cancelled compaction: %v", count(), err)
	}
	for range 2 { // the second finds nothing to merge
		must.Do(t, db.Compact(ctx, &CompactOptions{Due: true, Progress: func(Progress) {}}))
		if got := count(); got > 4 {
			t.Fatalf("%d tables are left", got)
		}
	}
	for i := range uint64(n) {
		found := 0
		for m, err := range db.Near(ctx, i*0x9e3779b97f4a7c15, 0) {
			if err != nil || m.ID != fmt.Sprint(i) {
				t.Fatalf("document %d: %+v, %v", i, m, err)
			}
			found++
		}
		if found != 1 {
			t.Fatalf("document %d was found %d times", i, found)
		}
	}
	db.Close()
	if err := db.Compact(ctx, &CompactOptions{Due: true}); !errors.Is(err, ErrClosed) {
		t.Fatalf("on a closed database: %v", err)
	}
}
