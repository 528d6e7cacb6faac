package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/vfs/vfstest"
)

// TestTurnedAwayWhenSafe delays the fsync of a write. If another call fails because of that write,
// since a document is not new or does not exist, it must not return before the write is safe.
func TestTurnedAwayWhenSafe(t *testing.T) {
	ctx := context.Background()
	novel := func(id string) func(db *DB) error {
		return func(db *DB) error {
			m, stored, err := db.PutNovel(ctx, Doc{ID: id, Fingerprints: []Fingerprint{{7}}}, Near(1))
			if err == nil && stored != (id == "twin") {
				err = fmt.Errorf("%s: stored %t, like %+v", id, stored, m)
			}
			return err
		}
	}
	for name, c := range map[string]struct {
		first, second func(db *DB) error
		safe          func(db *DB) error // must hold after a power cut once second has returned
	}{
		"novel": {novel("twin"), novel("other"), func(db *DB) error {
			_, err := db.Get(ctx, "twin")
			return err
		}},
		"delete": {func(db *DB) error { return db.Delete(ctx, "old") }, func(db *DB) error {
			if err := db.Delete(ctx, "old"); !errors.Is(err, ErrNotFound) {
				return fmt.Errorf("the second delete: %v", err)
			}
			return nil
		}, func(db *DB) error {
			if _, err := db.Get(ctx, "old"); !errors.Is(err, ErrNotFound) {
				return fmt.Errorf("deleted, and there again: %v", err)
			}
			return nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			mem := vfstest.NewMem(hostDir(t))
			held, release := make(chan bool), make(chan bool)
			var armed atomic.Bool
			faulty := vfstest.NewFaulty(mem, func(op vfstest.Op) error {
				if op.Kind == vfstest.OpSync && strings.HasSuffix(op.Name, ".wal") && armed.CompareAndSwap(true, false) {
					held <- true
					<-release
				}
				return nil
			})
			db, err := Create("/x", &Options{fs: faulty, NoSketch: true})
			must.Do(t, err)
			put(t, db, "old", ^uint64(0))
			armed.Store(true)
			first, second := make(chan error, 1), make(chan error, 1)
			go func() { first <- c.first(db) }()
			<-held
			go func() { second <- c.second(db) }()
			select {
			case err = <-second: // too early, as the check below will show
				second <- err
			case <-time.After(50 * time.Millisecond):
				close(release)
			}
			if err := <-second; err != nil {
				t.Error(err)
			}
			after, err := Open("/x", &Options{fs: mem.CrashClone(0, 1)})
			must.Do(t, err)
			if err := errors.Join(c.safe(after), after.Close()); err != nil {
				t.Errorf("after a power cut: %v", err)
			}
			select {
			case <-release:
			default:
				close(release)
			}
			if err := errors.Join(<-first, db.Close()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestBatchIsVisibleAtOnce replaces many documents in one batch, which needs a while, and reads the
// first and the last.
func TestBatchIsVisibleAtOnce(t *testing.T) {
	ctx := context.Background()
	const documents, rounds = 30000, 4
	db, _ := create4test(t, &Options{NoSketch: true, NoText: true, NoSync: true, DisableAutoCompaction: true})
	ids := make([]string, documents)
	for i := range ids {
		ids[i] = fmt.Sprint(i)
	}
	write := func(round uint64) error {
		var b Batch
		for _, id := range ids {
			b.Put(Doc{ID: id, Fingerprints: []Fingerprint{{round}}})
		}
		return db.Apply(ctx, &b)
	}
	must.Do(t, write(0))
	done := make(chan error, 1)
	go func() {
		var err error
		for round := uint64(1); round <= rounds && err == nil; round++ {
			err = write(round)
		}
		done <- err
	}()
	for looks := 0; ; looks++ {
		select {
		case err := <-done:
			t.Logf("looked %d times", looks)
			must.Do(t, err)
			return
		default:
		}
		s := must.Get(db.Snapshot())(t)
		first, errFirst := lookup(s, ctx, ids[0])
		last, errLast := lookup(s, ctx, ids[documents-1])
		if err := errors.Join(errFirst, errLast, s.Close()); err != nil || first.Fingerprint != last.Fingerprint {
			t.Fatalf("half a batch: %v, %v, %v", first, last, err)
		}
	}
}

// TestExpiryToTheMicrosecond reads documents whose age is the time to live, and one microsecond
// more, or whose own ends are so, in memory and in a table: every operation must see the first, and none the second.
func TestExpiryToTheMicrosecond(t *testing.T) {
	ctx := t.Context()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 4 {
		flushed, own := i%2 == 1, i > 1
		opts := &Options{NoSketch: true, TTL: time.Hour, DisableAutoCompaction: true, now: func() time.Time { return now }}
		if own {
			opts.TTL = 0
		}
		t.Run(fmt.Sprintf("flushed %t, own %t", flushed, own), func(t *testing.T) {
			db, _ := create4test(t, opts)
			store := func(id string, age time.Duration) {
				t.Helper()
				d := Doc{ID: id, Fingerprints: []Fingerprint{{5}}, Time: now.Add(-age)}
				if own {
					d.Expires = d.Time.Add(time.Hour + time.Microsecond)
				}
				must.Do(t, db.Put(ctx, d))
				if flushed { // one table each: a table whose documents have all expired is dropped whole
					must.Do(t, db.Flush(ctx))
				}
			}
			store("there", time.Hour)
			store("gone", time.Hour+time.Microsecond)
			check := func(when string) {
				t.Helper()
				equal(t, when+", entries", ids(t, db), []string{"there"})
				equal(t, when+", near", collect(t, db.Near(ctx, 5, 0)), []Match{{ID: "there"}})
				equal(t, when+", batch", collect(t, searchBatch(ctx, db, ofPrints([]uint64{9, 5}), Near(0))), []Match{{ID: "there", Query: 1}})
				equal(t, when+", nearest", collect(t, db.Search(ctx, ofPrint(5), Near(64), &SearchOptions{Limit: 3})), []Match{{ID: "there"}})
				if _, err := db.Get(ctx, "there"); err != nil {
					t.Error(when, err)
				}
				if _, err := db.Get(ctx, "gone"); !errors.Is(err, ErrNotFound) {
					t.Error(when, err)
				}
			}
			check("stored")
			if m, stored, err := db.PutNovel(ctx, Doc{ID: "new", Fingerprints: []Fingerprint{{5}}}, Near(0)); err != nil || stored || m.ID != "there" {
				t.Errorf("PutNovel: %+v, %t, %v", m, stored, err)
			}
			if err := db.Delete(ctx, "gone"); !errors.Is(err, ErrNotFound) {
				t.Errorf("deleting what has expired: %v", err)
			}
			must.Do(t, db.Compact(ctx, &CompactOptions{Due: true}))
			check("due merged")
			must.Do(t, db.Compact(ctx, nil))
			check("merged")
			if st, err := db.Stats(); err != nil || st.Documents != 1 {
				t.Errorf("%+v, %v", st, err)
			}
			l := must.Get(db.NewLoader(ctx, &LoadOptions{}))(t)
			store("gone", time.Hour+time.Microsecond)
			for id, want := range map[string]error{"there": ErrExists, "gone": nil} {
				if err := l.Add(Doc{ID: id, Fingerprints: []Fingerprint{{5}}}); !errors.Is(err, want) {
					t.Errorf("loading %s: %v", id, err)
				}
			}
			must.Get(l.Close())(t)
			equal(t, "loaded", ids(t, db), []string{"gone", "there"})
			if err := db.Delete(ctx, "there"); err != nil {
				t.Error(err)
			}
		})
	}
}
