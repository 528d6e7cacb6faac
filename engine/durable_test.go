package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/vfs/vfstest"
)

// TestFailedCatalogPoisons makes the catalog fail in a flush: no more writes may be accepted,
// although the log could store them.
func TestFailedCatalogPoisons(t *testing.T) {
	ctx := context.Background()
	faulty := vfstest.NewFaulty(vfstest.NewMem(hostDir(t)), nil)
	db := must.Get(Create("/db", &Options{fs: faulty}))(t)
	defer db.Close()
	put(t, db, "a", 1)
	faulty.SetInject(func(op vfstest.Op) error {
		if op.Kind == vfstest.OpCommitted {
			return syscall.EIO
		}
		return nil
	})
	if err := db.Flush(ctx); !errors.Is(err, syscall.EIO) {
		t.Errorf("Flush: %v", err)
	}
	faulty.SetInject(nil)
	if err := db.Put(ctx, Doc{ID: "b", Fingerprints: []Fingerprint{{uint64(2)}}}); !errors.Is(err, ErrFailed) || !errors.Is(err, syscall.EIO) {
		t.Errorf("Put: %v", err)
	}
	if _, err := lookupOf(ctx, db, "a"); err != nil {
		t.Errorf("reading: %v", err)
	}
}

// TestMergedTablesAreRemoved compacts and checks when the files of the merged tables are removed:
// not while a snapshot uses them.
func TestMergedTablesAreRemoved(t *testing.T) {
	ctx := context.Background()
	db, path := create4test(t, &Options{DisableAutoCompaction: true})
	tables := func(want int) {
		t.Helper()
		if names, err := filepath.Glob(filepath.Join(path, "*.sst*")); err != nil || len(names) != want {
			t.Errorf("%q instead of %d tables, %v", names, want, err)
		}
	}
	for i := range 3 {
		put(t, db, string(rune('a'+i)), uint64(i))
		must.Do(t, db.Flush(ctx))
	}
	s := must.Get(db.Snapshot())(t)
	must.Do(t, db.Compact(ctx, nil))
	tables(4)
	s.Close()
	tables(1)
}

// TestDamagedIngest ingests tables with one changed byte: those that are accepted must be intact.
func TestDamagedIngest(t *testing.T) {
	ctx := context.Background()
	db, _ := create4test(t, nil)
	for i := range 20 {
		err := db.Put(ctx, Doc{ID: string(rune('a' + i)), Text: strings.Repeat("some text ", 5+i), Fields: []byte(`{"f":1}`)})
		must.Do(t, err)
	}
	dir := t.TempDir()
	packed := filepath.Join(dir, "p.sst")
	must.Do(t, db.Pack(ctx, packed, nil))
	whole := must.Get(os.ReadFile(packed))(t)
	refused := 0
	for at := 3; at < len(whole); at += 1 + len(whole)/60 {
		damaged := append([]byte(nil), whole...)
		damaged[at] ^= 4
		rewrite(t, filepath.Join(dir, "damaged.sst"), damaged)
		into, _ := create4test(t, nil)
		if err := into.Ingest(ctx, filepath.Join(dir, "damaged.sst")); err != nil {
			refused++
			if s, err := into.Stats(); err != nil || s.Documents != 0 {
				t.Errorf("byte %d: refused, but %d documents are there, %v", at, s.Documents, err)
			}
			continue
		}
		if r, err := into.Check(ctx, nil); err != nil || len(r.Problems) > 0 {
			t.Fatalf("byte %d: taken, and damaged: %v, %v", at, r.Problems, err)
		}
	}
	if refused < 30 {
		t.Errorf("only %d of about 60 were refused", refused)
	}
}

// TestKilledThenCut kills a process before every file operation of a small workload. The next
// process recovers, with or without writing, and closes the database or not; then the power is cut,
// and only data that one of the two has synced remains.
func TestKilledThenCut(t *testing.T) {
	ctx := context.Background()
	type state struct {
		fs    *vfstest.Mem
		acked int // documents 0 to acked-1 are acknowledged
	}
	var states []state
	var acked atomic.Int64 // a flush removes its log concurrently with the next step
	mem := vfstest.NewMem(hostDir(t))
	fs := vfstest.NewFaulty(mem, func(op vfstest.Op) error {
		if op.Kind.Changes() {
			n := int(acked.Load()) // before the clone, which has at least these
			states = append(states, state{mem.KillClone(), n})
		}
		return nil
	})
	document := func(n int) Doc { return Doc{ID: fmt.Sprint(n), Fingerprints: []Fingerprint{{uint64(n)}}} }
	for range 3 {
		db, err := Open("/db", &Options{fs: fs, DisableAutoCompaction: true})
		must.Do(t, err)
		for _, step := range []func() error{
			nil, nil, func() error { return db.Flush(ctx) }, nil, func() error { return db.Compact(ctx, nil) }, nil, db.Close,
		} {
			if step != nil {
				err = step()
			} else if err = db.Put(ctx, document(int(acked.Load()))); err == nil {
				acked.Add(1)
			}
			must.Do(t, err)
		}
	}
	for op, st := range states {
		for _, puts := range []int{0, 1} {
			for _, closes := range []bool{false, true} {
				what := fmt.Sprintf("killed before operation %d of %d, %d more writes, closed: %v", op, len(states), puts, closes)
				fs := st.fs.KillClone()
				db, err := Open("/db", &Options{fs: fs})
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				for n := range puts {
					err = errors.Join(err, db.Put(ctx, document(1000+n)))
				}
				if closes {
					err = errors.Join(err, db.Close())
				}
				after := fs.CrashClone(0, 1)
				err = errors.Join(err, db.Close())
				fs.Discard()
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				if db, err = Open("/db", &Options{fs: after, MustExist: true}); err != nil {
					t.Fatalf("%s: after the power cut: %v", what, err)
				}
				for n := range st.acked {
					if _, err := lookupOf(ctx, db, fmt.Sprint(n)); err != nil {
						t.Fatalf("%s: document %d of %d: %v", what, n, st.acked, err)
					}
				}
				for n := range puts {
					if _, err := lookupOf(ctx, db, fmt.Sprint(1000+n)); err != nil {
						t.Fatalf("%s: a later document: %v", what, err)
					}
				}
				must.Do(t, db.Close())
				after.Discard()
			}
		}
		st.fs.Discard()
	}
	t.Logf("%d kills, each followed by 4 power cuts", len(states))
}

// TestRotatedLogIsSafe cuts the power when the table of a memtable is started: nothing of its log
// may be lost. Without Sync only the rotation has made it safe.
func TestRotatedLogIsSafe(t *testing.T) {
	ctx := t.Context()
	mem := vfstest.NewMem(hostDir(t))
	var after *vfstest.Mem
	fs := vfstest.NewFaulty(mem, func(op vfstest.Op) error {
		if op.Kind == vfstest.OpCreate && strings.HasSuffix(op.Name, ".sst"+files.TempSuffix) && after == nil {
			after = mem.CrashClone(0, 1)
		}
		return nil
	})
	db := open4test(t, "/db", &Options{fs: fs, NoSync: true})
	must.Do(t, errors.Join(db.Put(ctx, Doc{ID: "x", Text: "one two three"}), db.Flush(ctx), db.Close()))
	db = open4test(t, "/db", &Options{fs: after, MustExist: true})
	if _, err := lookupOf(ctx, db, "x"); err != nil {
		t.Error(err)
	}
}
