package engine

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// TestCompactDue leaves ten tables, and expects that what the policy finds to merge is merged, that nothing is lost by it, and that a
// context ends it with the tables as they were.
func TestCompactDue(t *testing.T) {
	ctx := context.Background()
	db, _ := create4test(t, &Options{NoText: true, NoSketch: true, Sync: SyncNever, DisableAutoCompaction: true})
	l, err := db.NewLoader(ctx, LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	const n, tables = 5000, 10
	for i := range uint64(n) {
		fp := i * 0x9e3779b97f4a7c15
		if err := l.Add(Doc{ID: fmt.Sprint(i), Fingerprint: &fp}); err != nil {
			t.Fatal(err)
		}
		if (i+1)%(n/tables) == 0 {
			if err := l.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := l.Close(); err != nil {
		t.Fatal(err)
	}
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
	if err := db.CompactDue(ended, nil); !errors.Is(err, context.Canceled) || count() != tables {
		t.Fatalf("%d tables after a cancelled compaction: %v", count(), err)
	}
	for range 2 { // nothing is left for the second
		if err := db.CompactDue(ctx, func(Progress) {}); err != nil {
			t.Fatal(err)
		}
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
	if err := db.CompactDue(ctx, nil); !errors.Is(err, ErrClosed) {
		t.Fatalf("on a closed database: %v", err)
	}
}
