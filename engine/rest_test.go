package engine

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/simdb/simdb/internal/must"
)

// TestRest makes a reader release files that a writer has removed. Its next use must show the
// current state of the database; an open snapshot still has its contents.
func TestRest(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "x.simdb")
	db := must.Get(Create(path, &Options{DisableAutoCompaction: true}))(t)
	defer db.Close()
	if holds, err := db.ReleaseDeleted(); holds || err != nil {
		t.Errorf("a writer: %v, %v", holds, err)
	}
	must.Do(t, errors.Join(putSome(db, 0, 10), db.Flush(ctx), putSome(db, 10, 20), db.Flush(ctx)))
	reader := must.Get(Open(path, &Options{ReadOnly: true}))(t)
	defer reader.Close()
	if holds, err := reader.ReleaseDeleted(); !holds || err != nil {
		t.Errorf("nothing was removed: %v, %v", holds, err)
	}
	must.Do(t, putSome(db, 20, 30))
	count := func(rows any) int {
		switch s := rows.(type) {
		case *DB:
			return len(collect(t, entriesOf(ctx, s, Range{})))
		case *Snapshot:
			return len(collect(t, entriesIn(ctx, s, Range{})))
		}
		return -1
	}
	if n := count(reader); n != 20 {
		t.Errorf("%d documents: a reader that need not rest has read the database", n)
	}
	open := must.Get(reader.Snapshot())(t)
	defer open.Close()
	must.Do(t, db.Compact(ctx, nil))
	for range 2 {
		if holds, err := reader.ReleaseDeleted(); holds || err != nil {
			t.Errorf("all tables are removed: %v, %v", holds, err)
		}
	}
	if n := count(open); n != 20 {
		t.Errorf("a snapshot has %d documents", n)
	}
	if n := count(reader); n != 30 {
		t.Errorf("%d documents after a rest", n)
	}
	must.Do(t, errors.Join(putSome(db, 30, 31), db.Flush(ctx), reader.Refresh(ctx), db.Delete(ctx, "d30"), putSome(db, 31, 32)))
	if _, err := db.Prune(ctx, backupTime(30), nil); err != nil { // drops the large table
		t.Fatal(err)
	}
	if holds, err := reader.ReleaseDeleted(); !holds || err != nil {
		t.Errorf("one table of two is removed: %v, %v", holds, err)
	}
	if err := reader.Refresh(ctx); err != nil {
		t.Error(err)
	}
	if n := count(reader); n != 1 {
		t.Errorf("%d documents after a rest", n)
	}
	db.Compact(ctx, nil)
	reader.ReleaseDeleted()
	if err := reader.Close(); err != nil {
		t.Error(err)
	}
	if _, err := reader.Snapshot(); !errors.Is(err, ErrClosed) {
		t.Errorf("closed while it rested: %v", err)
	}
	if _, err := reader.ReleaseDeleted(); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

// TestRestBesideQueries rests, refreshes and queries concurrently, while another DB writes and
// compacts. Every query must see the last state or a later one.
func TestRestBesideQueries(t *testing.T) {
	ctx, stop := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer stop()
	path := filepath.Join(t.TempDir(), "x.simdb")
	db := must.Get(Create(path, &Options{MemtableBytes: 4000, NoSync: true}))(t)
	defer db.Close()
	must.Do(t, putSome(db, 0, 10))
	reader := must.Get(Open(path, &Options{ReadOnly: true}))(t)
	defer reader.Close()
	var wg sync.WaitGroup
	loop := func(step func(i int) error) {
		wg.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				if err := step(i); err != nil {
					t.Error(err)
					stop()
				}
			}
		})
	}
	loop(func(int) error {
		time.Sleep(time.Millisecond)
		_, err := reader.ReleaseDeleted()
		return err
	})
	for range 2 {
		loop(func(i int) error {
			if i%3 == 0 {
				if err := reader.Refresh(context.Background()); err != nil {
					return err
				}
			}
			if n := len(collect(t, entriesOf(context.Background(), reader, Range{}))); n < 10 {
				return fmt.Errorf("%d documents", n)
			}
			return nil
		})
	}
	loop(func(i int) error {
		if i%50 == 0 {
			if err := db.Compact(context.Background(), nil); err != nil {
				return err
			}
		}
		return putSome(db, i, i+1)
	})
	wg.Wait()
}
