package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/simdb/simdb/engine/internal/store"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/vfs/vfstest"
)

// TestUnsyncedWritesSurviveKill kills a process that does not sync: its acknowledged writes are in
// the operating system.
func TestUnsyncedWritesSurviveKill(t *testing.T) {
	ctx := context.Background()
	mem := vfstest.NewMem(hostDir(t))
	db := must.Get(Create("/db", &Options{fs: mem, NoSync: true}))(t)
	defer db.Close()
	for i := range 5 {
		put(t, db, fmt.Sprint(i), uint64(i))
		after := must.Get(Open("/db", &Options{fs: mem.KillClone()}))(t)
		if n := len(collect(t, entriesOf(ctx, after, Range{}))); n != i+1 {
			t.Errorf("%d of %d acknowledged documents are left", n, i+1)
		}
		if err := after.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestFlushRemovesAllLogs flushes a memtable that has several logs, as after several short runs.
func TestFlushRemovesAllLogs(t *testing.T) {
	mem := vfstest.NewMem(hostDir(t))
	opts := &Options{fs: mem, DisableAutoCompaction: true}
	logs := func() (names []string) {
		all := must.Get(mem.List("/db"))(t)
		return slices.DeleteFunc(all, func(name string) bool { return !strings.HasSuffix(name, ".wal") })
	}
	for i := range store.MaxReplayedLogs - 1 {
		db := must.Get(Open("/db", opts))(t)
		put(t, db, fmt.Sprint(i), uint64(i))
		must.Do(t, db.Close())
	}
	if n := len(logs()); n != store.MaxReplayedLogs-1 {
		t.Fatalf("%d logs before the flush", n)
	}
	db := must.Get(Open("/db", opts))(t)
	must.Do(t, db.Flush(context.Background()))
	if err := db.Close(); err != nil { // logs are removed after waiting callers are notified of the flush
		t.Fatal(err)
	}
	if left := logs(); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
}

// TestFailedCommitKeepsTable makes a transaction of the catalog fail after its change was made: the
// next Open needs the table that the catalog lists, although the process that wrote it was told of
// a failure.
func TestFailedCommitKeepsTable(t *testing.T) {
	ctx := context.Background()
	verbs := map[string]func(*DB) error{
		"flush":   func(db *DB) error { return db.Flush(ctx) },
		"compact": func(db *DB) error { return db.Compact(ctx, nil) },
		"ingest":  func(db *DB) error { return db.Ingest(ctx, "/p.sst") },
		"load": func(db *DB) error {
			l, err := db.NewLoader(ctx, &LoadOptions{})
			if err == nil {
				err = l.Add(Doc{ID: "loaded", Fingerprints: []Fingerprint{{uint64(9)}}})
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
		must.Do(t, err)
		put(t, db, "a", 1)
		must.Do(t, errors.Join(db.Flush(ctx), db.Pack(ctx, "/p.sst", nil)))
		put(t, db, "b", 2)
		if verb == "compact" { // so that its flush does not fail
			must.Do(t, db.Flush(ctx))
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
		if n := len(collect(t, entriesOf(ctx, after, Range{}))); n < 2 {
			t.Errorf("%s: %d documents are left", verb, n)
		}
		if err := after.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestFilesInUse simulates a system that does not remove or rename files that a reader has mapped,
// as Windows may: no operation may fail because of that, and the files are removed once the reader
// has released them: by the next removal, by closing, or by the next open.
func TestFilesInUse(t *testing.T) {
	ctx := t.Context()
	for _, letGo := range []string{"removal", "close", "open"} {
		mem := vfstest.NewMem(hostDir(t))
		busy := syscall.EBUSY
		if runtime.GOOS == "windows" {
			busy = syscall.Errno(32) // ERROR_SHARING_VIOLATION
		}
		var held atomic.Bool
		faulty := vfstest.NewFaulty(mem, func(op vfstest.Op) error {
			if held.Load() && (op.Kind == vfstest.OpRemove || op.Kind == vfstest.OpRename) {
				if _, err := mem.Stat(filepath.Join("/db", filepath.Base(op.Name))); err != nil {
					return nil // it fails without this
				}
				return &fs.PathError{Op: op.Kind.String(), Path: op.Name, Err: busy}
			}
			return nil
		})
		o := &Options{fs: faulty, DisableAutoCompaction: true}
		s := &sickbed{T: t}
		open := func() {
			t.Helper()
			var err error
			s.db, err = Open("/db", o)
			s.do(err)
		}
		tables := func(want int) {
			t.Helper()
			names, err := mem.List("/db")
			s.do(err)
			if n := slices.DeleteFunc(names, func(name string) bool { return !strings.Contains(name, ".sst") }); len(n) != want {
				t.Errorf("%s: %d tables are in use, and %v are there", letGo, want, n)
			}
		}
		open()
		s.put(0, 100, "some")
		s.flush()
		held.Store(true)
		for i := range 3 {
			s.put(50+i, 150+i, "other")
			s.flush()
			s.do(s.db.Compact(ctx, nil))
		}
		if letGo == "removal" {
			held.Store(false)
			s.put(0, 1, "last")
			s.flush()
			s.do(s.db.Compact(ctx, nil))
			tables(1)
		}
		held.Store(letGo == "open")
		s.do(s.db.Close())
		if letGo == "close" {
			tables(1)
		}
		open() // with files that are still in use, or without
		if n := len(textsIn(t, s.db)); n != 152 {
			t.Errorf("%s: %d documents", letGo, n)
		}
		s.put(0, 1, "again")
		s.flush()
		s.do(s.db.Close())
		held.Store(false)
		open()
		v, err := s.db.s.View()
		s.do(err)
		tables(len(v.Version.Parts))
		v.Close()
		s.do(s.db.Close())
	}
}
