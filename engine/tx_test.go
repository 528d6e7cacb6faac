package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/must"
)

// TestUpdateCounts increments a number in several goroutines: no increment is lost.
func TestUpdateCounts(t *testing.T) {
	ctx := t.Context()
	db, _ := create4test(t, &Options{NoSync: true, NoSketch: true, MemtableBytes: 20_000})
	const writers = 2
	each := exhaustive.Every(t, 5).Of(1000)
	increments, conflicts := 0, 0
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for range each {
				err := ErrConflict
				for tries := 0; errors.Is(err, ErrConflict); tries++ {
					err = db.Update(ctx, func(tx *Tx) error {
						d, err := tx.Get(ctx, "n")
						if err != nil && !errors.Is(err, ErrNotFound) {
							return err
						}
						n := 0
						fmt.Sscanf(string(d.Fields), `{"n":%d}`, &n)
						return tx.Put(ctx, Doc{ID: "n", Fields: fmt.Appendf(nil, `{"n":%d}`, n+1)})
					})
					mu.Lock()
					if err == nil {
						increments++
					} else {
						conflicts++
					}
					mu.Unlock()
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	d := must.Get(db.Get(ctx, "n"))(t)
	if want := fmt.Sprintf(`{"n":%d}`, increments); string(d.Fields) != want {
		t.Errorf("%s after %d increments and %d conflicts", d.Fields, increments, conflicts)
	}
}

// TestConflicts begins a transaction that reads and then writes, lets others write meanwhile, and
// commits it, on the same DB or on one that has been opened since.
func TestConflicts(t *testing.T) {
	ctx := t.Context()
	get := func(id string) func(tx *Tx) error {
		return func(tx *Tx) error { _, err := tx.Get(ctx, id); return err }
	}
	count := func(tx *Tx) error { _, err := tx.Count(ctx, Range{Prefix: "none"}); return err }
	put := func(id string) func(w *Writer) error {
		return func(w *Writer) error { return w.Put(ctx, Doc{ID: id, Fields: []byte(`{}`)}) }
	}
	del := func(id string) func(w *Writer) error {
		return func(w *Writer) error { return w.Delete(ctx, id) }
	}
	both := func(a, b func(w *Writer) error) func(w *Writer) error {
		return func(w *Writer) error { return errors.Join(a(w), b(w)) }
	}
	in := func(write func(w *Writer) error) func(tx *Tx) error {
		return func(tx *Tx) error { return write(&tx.Writer) }
	}
	var db *DB
	flush := func(*Writer) error { return errors.Join(db.Flush(ctx), db.Compact(ctx, nil)) }
	prune := func(*Writer) error { _, err := db.Prune(ctx, time.Unix(0, 0), nil); return err }
	for name, c := range map[string]struct {
		reads    func(tx *Tx) error
		others   func(w *Writer) error
		conflict bool
	}{
		"replaced":                {get("a"), put("a"), true},
		"deleted":                 {get("a"), del("a"), true},
		"deleted and stored":      {get("a"), both(del("a"), put("a")), true},
		"missing, stored":         {get("c"), put("c"), true},
		"missing, come and gone":  {get("c"), both(put("c"), del("c")), false},
		"another":                 {get("a"), both(put("b"), put("c")), false},
		"deleted by both":         {in(del("a")), del("a"), true},
		"only written":            {in(put("a")), put("a"), false},
		"own write read":          {func(tx *Tx) error { return errors.Join(put("a")(&tx.Writer), get("a")(tx)) }, put("a"), false},
		"read, deleted, missing":  {func(tx *Tx) error { get("a")(tx); del("a")(&tx.Writer); get("a")(tx); return nil }, put("b"), false},
		"counted":                 {count, put("b"), true},
		"counted, pruned":         {count, prune, true},
		"counted, nothing":        {count, flush, false},
		"required, unmet outside": {func(tx *Tx) error { return tx.PutIfAbsent(ctx, Doc{ID: "c"}) }, put("c"), true},
		"novel": {func(tx *Tx) error {
			_, stored, err := tx.PutNovel(ctx, Doc{ID: "n", Fingerprints: []Fingerprint{{1}}}, Near(0))
			if !stored {
				t.Error("not stored")
			}
			return err
		}, put("b"), true},
	} {
		for _, reopened := range []bool{false, true} {
			path := t.TempDir() + "/x.simdb"
			o := &Options{NoSketch: true, NoSync: true, DisableAutoCompaction: true}
			db = must.Get(Open(path, o))(t)
			loadStored(t, db, Doc{ID: "old", Fingerprints: []Fingerprint{{7}}, Time: time.Unix(-1, 0)})
			must.Do(t, errors.Join(put("a")(&db.Writer), put("b")(&db.Writer)))
			from := db
			if reopened { // as a prompt does, which is open read-only until it commits
				readOnly := *o
				readOnly.ReadOnly = true
				from = must.Get(Open(path, &readOnly))(t)
			}
			tx := must.Get(from.Begin())(t)
			if err := c.reads(tx); err != nil && !errors.Is(err, ErrNotFound) {
				t.Errorf("%s: %v", name, err)
			}
			if err := errors.Join(put("z")(&tx.Writer), c.others(&db.Writer)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if reopened {
				db.Close()
				db = must.Get(Open(path, o))(t)
			}
			err := db.Commit(ctx, tx)
			_, missing := db.Get(ctx, "z")
			if c.conflict != errors.Is(err, ErrConflict) || !c.conflict && err != nil || errors.Is(missing, ErrNotFound) != c.conflict {
				t.Errorf("%s, reopened %t: %v; conflict %t; %v", name, reopened, err, c.conflict, missing)
			}
			if again := db.Commit(ctx, tx); !errors.Is(again, ErrClosed) {
				t.Errorf("%s: committed twice: %v", name, again)
			}
			tx.Close()
			if from != db {
				from.Close()
			}
			db.Close()
		}
	}
}

// TestTxPruned prunes the documents with the last sequence numbers: a transaction that begins on a
// reader and searches can be committed by a writer, although no table and no log has these numbers.
func TestTxPruned(t *testing.T) {
	ctx := t.Context()
	path := t.TempDir() + "/x.simdb"
	db := must.Get(Open(path, nil))(t)
	loadStored(t, db, Doc{ID: "a", Fields: []byte(`{}`)}, Doc{ID: "b", Fields: []byte(`{}`)})
	must.Get(db.Prune(ctx, time.Now().Add(time.Hour), nil))(t)
	db.Close()
	reader := must.Get(Open(path, &Options{ReadOnly: true}))(t)
	defer reader.Close()
	tx := must.Get(reader.Begin())(t)
	must.Get(tx.Count(ctx, Range{}))(t)
	must.Do(t, tx.Put(ctx, Doc{ID: "c", Fields: []byte(`{}`)}))
	if err := reader.Commit(ctx, tx); !errors.Is(err, ErrReadOnly) {
		t.Error(err)
	}
	db = must.Get(Open(path, nil))(t)
	defer db.Close()
	if err := db.Commit(ctx, tx); err != nil {
		t.Error(err)
	}
}

// TestTxCodes deletes and replaces documents with several fingerprints in a transaction, in tables
// and in memtables: none of their fingerprints is found.
func TestTxCodes(t *testing.T) {
	ctx := t.Context()
	db, _ := create4test(t, &Options{NoSketch: true, Features: Features{Several: true}})
	doc := func(id string, fps ...uint64) Doc {
		d := Doc{ID: id}
		for _, fp := range fps {
			d.Fingerprints = append(d.Fingerprints, Fingerprint{fp})
		}
		return d
	}
	found := func(tx *Tx) (ids string) {
		for _, m := range collect(t, tx.Search(ctx, doc("", 0xff, 0xff00), Near(0), nil)) {
			ids += m.ID
		}
		return ids
	}
	for flushed := range 2 {
		for _, d := range []Doc{doc("a", 1, 0xff), doc("b", 2, 0xff00)} {
			must.Do(t, db.Put(ctx, d))
		}
		if flushed == 1 {
			db.Flush(ctx)
		}
		err := db.Update(ctx, func(tx *Tx) error {
			before := found(tx)
			err := errors.Join(tx.Delete(ctx, "a"), tx.Put(ctx, doc("b", 2)), tx.Put(ctx, doc("c", 3, 0xff)))
			if after := found(tx); before != "ab" || after != "c" {
				t.Errorf("found %s, then %s", before, after)
			}
			return errors.Join(err, tx.Delete(ctx, "c"))
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// TestTxRolledBack checks that nothing of a failed Update is written, and that its Tx is closed.
func TestTxRolledBack(t *testing.T) {
	ctx := context.Background()
	db, _ := create4test(t, nil)
	failed := errors.New("failed")
	var leaked *Tx
	err := db.Update(ctx, func(tx *Tx) error {
		leaked = tx
		return errors.Join(tx.Put(ctx, Doc{ID: "a"}), failed)
	})
	if _, missing := db.Get(ctx, "a"); !errors.Is(err, failed) || !errors.Is(missing, ErrNotFound) {
		t.Error(err, missing)
	}
	if _, err := leaked.Get(ctx, "a"); !errors.Is(err, ErrClosed) || !errors.Is(leaked.Put(ctx, Doc{ID: "a"}), ErrClosed) {
		t.Error("a Tx can be used after Update:", err)
	}
}
