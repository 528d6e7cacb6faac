package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/simdb/simdb/engine/internal/store"
	"github.com/simdb/simdb/internal/vfs/vfstest"
)

// TestUnsyncedWritesSurviveKill kills a process that does not sync: what it acknowledged is with
// the operating system.
func TestUnsyncedWritesSurviveKill(t *testing.T) {
	ctx := context.Background()
	mem := vfstest.NewMem(hostDir(t))
	db, err := Create("/db", &Options{fs: mem, Sync: SyncNever})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for i := range 5 {
		put(t, db, fmt.Sprint(i), uint64(i))
		after, err := Open("/db", &Options{fs: mem.KillClone()})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(collect(t, after.Entries(ctx, ""))); n != i+1 {
			t.Errorf("%d of %d acknowledged documents are left", n, i+1)
		}
		if err := after.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestFlushRemovesAllLogs flushes a memtable that several logs hold, as after several short runs.
func TestFlushRemovesAllLogs(t *testing.T) {
	mem := vfstest.NewMem(hostDir(t))
	opts := &Options{fs: mem, DisableAutoCompaction: true}
	logs := func() (names []string) {
		all, err := mem.List("/db")
		if err != nil {
			t.Fatal(err)
		}
		return slices.DeleteFunc(all, func(name string) bool { return !strings.HasSuffix(name, ".wal") })
	}
	for i := range store.MaxReplayedLogs - 1 {
		db, err := Open("/db", opts)
		if err != nil {
			t.Fatal(err)
		}
		put(t, db, fmt.Sprint(i), uint64(i))
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(logs()); n != store.MaxReplayedLogs-1 {
		t.Fatalf("%d logs before the flush", n)
	}
	db, err := Open("/db", opts)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Flush(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil { // logs go after those who wait for the flush are told
		t.Fatal(err)
	}
	if left := logs(); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
}

// TestFailedCommitKeepsTable has a transaction of the catalog fail after its change was made: the
// next Open needs the table that the catalog lists, though the process that wrote it was told of a
// failure.
func TestFailedCommitKeepsTable(t *testing.T) {
	ctx := context.Background()
	verbs := map[string]func(*DB) error{
		"flush":   func(db *DB) error { return db.Flush(ctx) },
		"compact": func(db *DB) error { return db.Compact(ctx, nil) },
		"ingest":  func(db *DB) error { return db.Ingest(ctx, "/p.sst") },
		"load": func(db *DB) error {
			l, err := db.NewLoader(ctx, LoadOptions{})
			if err == nil {
				err = l.Add(Doc{ID: "loaded", Fingerprint: new(uint64(9))})
				_, e := l.Close()
				err = errors.Join(err, e)
			}
			return err
		},
	}
	for verb, run := range verbs {
		mem := vfstest.NewMem(hostDir(t))
		fs := vfstest.NewFaulty(mem, nil)
		db, err := Create("/db", &Options{fs: fs, DisableAutoCompaction: true})
		if err != nil {
			t.Fatal(err)
		}
		put(t, db, "a", 1)
		if err := errors.Join(db.Flush(ctx), db.Pack(ctx, "/p.sst", nil)); err != nil {
			t.Fatal(err)
		}
		put(t, db, "b", 2)
		if verb == "compact" { // so that not its flush fails
			if err := db.Flush(ctx); err != nil {
				t.Fatal(err)
			}
		}
		fs.SetInject(func(op vfstest.Op) error {
			if op.Kind == vfstest.OpCommitted {
				return syscall.EIO
			}
			return nil
		})
		if err := run(db); !errors.Is(err, syscall.EIO) {
			t.Errorf("%s: %v", verb, err)
		}
		fs.SetInject(nil)
		db.Close()
		after, err := Open("/db", &Options{fs: mem})
		if err != nil {
			t.Fatalf("%s: %v", verb, err)
		}
		if n := len(collect(t, after.Entries(ctx, ""))); n < 2 {
			t.Errorf("%s: %d documents are left", verb, n)
		}
		if err := after.Close(); err != nil {
			t.Error(err)
		}
	}
}
